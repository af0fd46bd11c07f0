import Glibc
import ReactorLoop
import Testing

@Suite struct RuntimeDirectoryTests {
    @Test("S46: a directory of the user that others cannot write to is opened")
    func opensASafeOne() throws {
        let directory = TemporaryDirectory()
        #expect(try RuntimeDirectory(at: directory.path).path == directory.path)
        Files.setMode(0o755, of: directory.path)
        _ = try RuntimeDirectory(at: directory.path)
    }

    @Test("S46: a missing directory is refused as missing, or made with mode 0700 on request")
    func missing() throws {
        let directory = TemporaryDirectory()
        let path = directory.path("inner")
        #expect(throws: LoopError.unsafeDirectory(path: path, .isMissing)) {
            try RuntimeDirectory(at: path)
        }
        _ = try RuntimeDirectory.openOrMake(at: path)
        #expect(Files.mode(of: path) == S_IFDIR | 0o700)
        _ = try RuntimeDirectory.openOrMake(at: path)
    }

    @Test(
        "S46: a directory that other users may write to is refused with its mode",
        arguments: [0o720, 0o702, 0o777, 0o1777] as [mode_t])
    func writableByOthers(_ mode: mode_t) throws {
        let directory = TemporaryDirectory()
        Files.setMode(mode, of: directory.path)
        #expect(
            throws: LoopError.unsafeDirectory(
                path: directory.path, .isWritableByOthers(mode: mode))
        ) {
            try RuntimeDirectory(at: directory.path)
        }
        #expect(throws: LoopError.self) { try RuntimeDirectory.openOrMake(at: directory.path) }
    }

    @Test("S46: a link to a safe directory is refused as a link")
    func symbolicLink() throws {
        let directory = TemporaryDirectory()
        let inner = directory.path("inner")
        let link = directory.path("link")
        Files.makeDirectory(inner)
        Files.makeLink(link, to: inner)
        #expect(throws: LoopError.unsafeDirectory(path: link, .isSymbolicLink)) {
            try RuntimeDirectory(at: link)
        }
        #expect(throws: LoopError.unsafeDirectory(path: link, .isSymbolicLink)) {
            try RuntimeDirectory.openOrMake(at: link)
        }
    }

    @Test("S46: a file is refused as not a directory")
    func file() throws {
        let directory = TemporaryDirectory()
        let path = directory.path("file")
        Files.makeFile(path)
        #expect(throws: LoopError.unsafeDirectory(path: path, .isNotADirectory)) {
            try RuntimeDirectory(at: path)
        }
    }

    @Test("S46: a directory of another user is refused with both users")
    func foreign() throws {
        let directory = TemporaryDirectory()
        // Root gives its own directory away; for other users the root directory is foreign.
        let path = getuid() == 0 ? directory.path : "/"
        if getuid() == 0 { Files.give(path, to: 12_345) }
        let owner: UInt32 = getuid() == 0 ? 12_345 : 0
        #expect(
            throws: LoopError.unsafeDirectory(
                path: path, .isOwnedBy(owner: owner, expected: getuid()))
        ) {
            try RuntimeDirectory(at: path)
        }
    }
}
