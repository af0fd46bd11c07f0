import Glibc
import ReactorLoop
import Testing

@Suite struct SocketFileTests {
    @Test("S41: under the lock a stale socket is removed, and its path can be bound")
    func removesAStaleSocket() throws {
        let directory = TemporaryDirectory()
        let address = try directory.address("r.sock")
        let runtime = try RuntimeDirectory(at: directory.path)
        let loop = try EventLoop()
        defer { loop.close() }
        try Listener.leaveStale(at: address, on: loop)
        #expect(throws: LoopError.self) { try Listener(at: address, on: loop) }

        let lock = try LockFile(for: address, in: runtime)
        #expect(try SocketFile.removeStale(at: address, in: runtime, holding: lock))
        #expect(try !SocketFile.removeStale(at: address, in: runtime, holding: lock))
        #expect(try Listener(at: address, on: loop).isPathOurs)
    }

    @Test(
        "S45: a file that is not a socket is refused with its kind and stays",
        arguments: ["regular file", "directory", "fifo", "symbolic link"])
    func refusesOtherKinds(_ kind: String) throws {
        let directory = TemporaryDirectory()
        let address = try directory.address("r.sock")
        let runtime = try RuntimeDirectory(at: directory.path)
        let lock = try LockFile(for: address, in: runtime)
        switch kind {
        case "regular file": Files.makeFile(address.path)
        case "directory": Files.makeDirectory(address.path)
        case "fifo": Files.makeFifo(address.path)
        default: Files.makeLink(address.path, to: directory.path("elsewhere"))
        }
        #expect(
            throws: LoopError.unsafeSocketFile(
                path: address.path, .isNotASocket(kind: kind))
        ) {
            try SocketFile.removeStale(at: address, in: runtime, holding: lock)
        }
        #expect(Set(directory.names) == ["r.sock", "r.sock.lock"])
    }

    @Test("S45: a socket with another program's listener is refused and stays")
    func refusesALivingSocket() throws {
        let directory = TemporaryDirectory()
        let address = try directory.address("r.sock")
        let runtime = try RuntimeDirectory(at: directory.path)
        let lock = try LockFile(for: address, in: runtime)
        let loop = try EventLoop()
        defer { loop.close() }
        let other = try Listener(at: address, on: loop)
        #expect(throws: LoopError.unsafeSocketFile(path: address.path, .isInUse)) {
            try SocketFile.removeStale(at: address, in: runtime, holding: lock)
        }
        #expect(other.isPathOurs)
        other.closeEverywhere(address, on: loop)
        #expect(try SocketFile.removeStale(at: address, in: runtime, holding: lock))
    }

    @Test("S45: a socket of another user is refused and stays", .enabled(if: getuid() == 0))
    func refusesAForeignSocket() throws {
        let directory = TemporaryDirectory()
        let address = try directory.address("r.sock")
        let runtime = try RuntimeDirectory(at: directory.path)
        let lock = try LockFile(for: address, in: runtime)
        let loop = try EventLoop()
        defer { loop.close() }
        try Listener.leaveStale(at: address, on: loop)
        Files.give(address.path, to: 12_345)
        #expect(
            throws: LoopError.unsafeSocketFile(
                path: address.path, .isOwnedBy(owner: 12_345, expected: 0))
        ) {
            try SocketFile.removeStale(at: address, in: runtime, holding: lock)
        }
        #expect(FileIdentity(at: address.path) != nil)
    }
}
