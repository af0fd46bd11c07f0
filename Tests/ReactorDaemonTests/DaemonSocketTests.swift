import Foundation
import ReactorWire
import TestPrograms
import Testing

@Suite("The daemon's socket", .timeLimit(.minutes(10)))
struct DaemonSocketTests {
    @Test("S41: the socket of a killed daemon is replaced")
    func stale() async throws {
        let first = try await DaemonProcess.start()
        await first.kill9()
        let second = try await DaemonProcess.start(in: first.directory)
        #expect(DaemonProcess.accepts(second.socketPath))
    }

    @Test("S42: a second daemon names the running one, and changes nothing")
    func second() async throws {
        let first = try await DaemonProcess.start()
        let second = try await DaemonProcess.run(in: first.directory)
        #expect(second.ending == .exited(69))
        #expect(second.log.contains("\(first.pid)"))
        #expect(DaemonProcess.accepts(first.socketPath))
    }

    @Test("S44: a path beyond 107 bytes is refused, not cut", arguments: [108, 200])
    func longPath(byteCount: Int) async throws {
        let directory = TestDirectory()
        let padding = String(repeating: "x", count: byteCount - directory.path.utf8.count - 1)
        let run = try await DaemonProcess.run(
            arguments: ["--socket", directory.path(padding)], in: directory)
        #expect(run.ending == .exited(69))
        #expect(run.log.contains("\(byteCount) bytes"))
    }

    @Test("S45: a file that is not the daemon's socket is left in place")
    func foreignFile() async throws {
        let directory = TestDirectory()
        _ = try directory.write("precious", to: "s")
        let run = try await DaemonProcess.run(in: directory)
        #expect(run.ending == .exited(69))
        #expect(directory.read("s") == "precious")
    }

    @Test("S46: a directory that other users may write to is refused with the reason")
    func openDirectory() async throws {
        let directory = TestDirectory()
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o777], ofItemAtPath: directory.path)
        let run = try await DaemonProcess.run(in: directory)
        #expect(run.ending == .exited(69))
        #expect(run.log.contains(directory.path))
    }

    @Test("S47: a removed socket file is bound again")
    func rebind() async throws {
        let daemon = try await DaemonProcess.start()
        try FileManager.default.removeItem(atPath: daemon.socketPath)
        #expect(await holds { DaemonProcess.accepts(daemon.socketPath) })
        #expect(await holds { daemon.log.contains("bound it again") })
    }

    @Test("S47: another program's socket at the path is not removed, and is logged once")
    func taken() async throws {
        // The interval between two log lines is longer than the test.
        let daemon = try await DaemonProcess.start(
            config: DaemonProcess.example + "\nlimits:\n  logInterval: 1h\n")
        let frame = HostileServer.frame(.closing, 0, Closing(.busy, "no").wireBytes())
        // It listens before its socket is in the place of the daemon's.
        let other = daemon.directory.path("other")
        let hostile = try #require(HostileServer(at: other, frame))
        #expect(unsafe rename(other, daemon.socketPath) == 0)
        #expect(await holds { hostile.clientCount >= 4 })
        #expect(daemon.log.components(separatedBy: "cannot be bound again").count == 2)
        #expect(DaemonProcess.accepts(daemon.socketPath))
    }

    @Test("only the owner may use the socket")
    func mode() async throws {
        let daemon = try await DaemonProcess.start()
        let attributes = try FileManager.default.attributesOfItem(atPath: daemon.socketPath)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }
}
