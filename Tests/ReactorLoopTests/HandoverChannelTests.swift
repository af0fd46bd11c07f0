import Glibc
import ReactorLoop
import Testing

/// Drives ``SuccessorProgram`` and ``SuccessorProcess``.
@Suite("A channel to another process")
struct HandoverChannelTests {
    @Test("messages arrive whole and in order, and then the end")
    func messages() throws {
        var (own, other): (HandoverChannel, HandoverChannel?) = try HandoverChannel.pair()
        #expect(own.receive(within: 0) == .nothing)
        other?.send([1])
        other?.send([2, 3])
        #expect(own.receive(within: 0) == .message([1]))
        #expect(own.receive(within: nil) == .message([2, 3]))
        other = nil
        #expect(own.receive(within: nil) == .ended)
        #expect(!own.send([4]))
        own = try HandoverChannel.pair().own
    }

    @Test("a file in memory has its bytes for the process that inherits it")
    func memoryFile() throws {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let file = try MemoryFile(bytes)
        #expect(fcntl(file.descriptor, F_GETFD) == FD_CLOEXEC)
        #expect(try MemoryFile.read(dup(file.descriptor)) == bytes)
        #expect(throws: LoopError.self) { try MemoryFile.read(-1) }
    }

    @Test("a started program inherits the named descriptors, and no others")
    func inheritance() throws {
        let (own, other) = try HandoverChannel.pair()
        let hidden = try MemoryFile([1])
        let script =
            "test -e /proc/self/fd/\(other.descriptor) -a ! -e /proc/self/fd/\(hidden.descriptor)"
        let program = SuccessorProgram(["/bin/sh", "-c", script])
        let process = try program.start([:], inheriting: [other.descriptor])
        #expect(process.end(within: 60_000) == "ended with exit code 0")
        withExtendedLifetime((own, other, hidden)) {}
    }

    @Test("a program is found by its first argument, by the search path, or by its file")
    func paths() throws {
        #expect(SuccessorProgram(["/usr/bin/x"]).path == "/usr/bin/x")
        #expect(SuccessorProgram(["sh"], path: "/nowhere:/bin").path == "/bin/sh")
        #expect(SuccessorProgram(["no-such-program"], path: "/bin").path.hasPrefix("/"))
        #expect(throws: LoopError.self) {
            try SuccessorProgram(["/no/such/program"]).start([:], inheriting: [])
        }
    }

    @Test("a program that goes on is killed after its time")
    func patience() throws {
        let process = try SuccessorProgram(["/bin/sleep", "1000"]).start([:], inheriting: [])
        #expect(process.end(within: 5) == "was ended by signal 9")
    }
}
