import ReactorLoop
import Testing

@Suite struct UnixAddressTests {
    @Test("S44: a path of 107 bytes is bound and connected to in full")
    func longestPathWorks() throws {
        let directory = TemporaryDirectory()
        let name = String(repeating: "n", count: 107 - directory.path.utf8.count - 1)
        let address = try directory.address(name)
        #expect(address.path.utf8.count == 107)
        let loop = try EventLoop()
        defer { loop.close() }
        let listener = try Listener(at: address, on: loop)
        #expect(directory.names == [name])
        listener.resumeAccepting()
        var accepted = 0
        listener.onAccept = { _ in accepted += 1 }
        _ = try Connection.connect(to: address, on: loop)
        try loop.turn { accepted == 1 }
    }

    @Test("S44: a longer path is refused with its size, never truncated", arguments: [108, 200])
    func longerPathIsRefused(_ byteCount: Int) {
        let path =
            "/tmp/" + String(repeating: "ü", count: (byteCount - 5) / 2)
            + String(repeating: "n", count: (byteCount - 5) % 2)
        #expect(throws: LoopError.pathIsTooLong(path: path, byteCount: byteCount)) {
            try UnixAddress(path)
        }
        #expect(
            LoopError.pathIsTooLong(path: "/p", byteCount: 108).description
                == "socket path /p: 108 bytes exceed 107; choose a shorter directory")
    }

    @Test("an empty path and one with a NUL byte are refused")
    func uselessPathsAreRefused() {
        #expect(throws: LoopError.pathIsEmpty) { try UnixAddress("") }
        #expect(throws: LoopError.pathHoldsNUL(path: "/tmp/a\0b")) { try UnixAddress("/tmp/a\0b") }
    }

    @Test(
        "a path splits into directory and name",
        arguments: [
            ("/run/reactord/reactord.sock", "/run/reactord", "reactord.sock"),
            ("/s", "/", "s"), ("s", ".", "s"), ("a/s", "a", "s"),
        ])
    func splits(_ path: String, _ directory: String, _ name: String) throws {
        let address = try UnixAddress(path)
        #expect(address.directory == directory)
        #expect(address.name == name)
    }
}
