import Glibc
import ReactorLoop
import Testing

@Suite struct AppendFileTests {
    @Test("C88: appended bytes are there when the file is opened again, by its owner only")
    func appends() throws {
        let directory = TemporaryDirectory()
        let path = directory.path("pending")
        do {
            let file = try AppendFile(at: path)
            try file.append([1, 2])
            try file.append([3])
            #expect(file.byteCount == 3)
        }
        let file = try AppendFile(at: path)
        #expect(try file.contents() == [1, 2, 3])
        try file.truncate(to: 1)
        try file.append([9])
        #expect(try file.contents() == [1, 9])
        #expect(Files.mode(of: path) == S_IFREG | 0o600)
    }

    @Test("C88: a second holder is refused, of the same file and of its replacement")
    func excludes() throws {
        let directory = TemporaryDirectory()
        let path = directory.path("pending")
        let file = try AppendFile(at: path)
        #expect(throws: LoopError.fileInUse(path: path)) { try AppendFile(at: path) }
        try file.replace(with: [7])
        #expect(throws: LoopError.fileInUse(path: path)) { try AppendFile(at: path) }
        try file.append([8])
        #expect(try file.contents() == [7, 8])
        #expect(directory.names == ["pending"])
    }

    @Test("leftovers of an ended writer do no harm")
    func leftover() throws {
        let directory = TemporaryDirectory()
        let path = directory.path("pending")
        do {
            let half = try AppendFile(at: path + ".new")
            try half.append([1, 2, 3, 4])
        }
        let file = try AppendFile(at: path)
        try file.replace(with: [5])
        #expect(try file.contents() == [5])
        #expect(directory.names == ["pending"])
    }

    @Test(
        "a file that others may read is refused, unchanged; an empty one becomes the owner's"
    )
    func shared() throws {
        let directory = TemporaryDirectory()
        let path = directory.path("notes")
        do {
            let file = try AppendFile(at: path)
            try file.append([1, 2])
        }
        #expect(unsafe chmod(path, 0o644) == 0)
        #expect(throws: LoopError.unsafeFile(path: path)) { try AppendFile(at: path) }
        #expect(Files.mode(of: path) == S_IFREG | 0o644)
        #expect(unsafe chmod(path, 0o600) == 0)
        try AppendFile(at: path).truncate(to: 0)
        #expect(unsafe chmod(path, 0o644) == 0)
        #expect(try AppendFile(at: path).byteCount == 0)
        #expect(Files.mode(of: path) == S_IFREG | 0o600)
    }

    @Test("X115: a hard link at the path or at that of a replacement is refused, unchanged")
    func hardLinks() throws {
        let directory = TemporaryDirectory()
        let (victim, path) = (directory.path("victim"), directory.path("pending"))
        Files.write([1, 2, 3], to: victim)
        #expect(unsafe link(victim, path) == 0)
        #expect(throws: LoopError.unsafeFile(path: path)) { try AppendFile(at: path) }
        #expect(unsafe unlink(path) == 0)
        let file = try AppendFile(at: path)
        try file.append([4])
        #expect(unsafe link(victim, path + ".new") == 0)
        #expect(throws: LoopError.unsafeFile(path: path + ".new")) { try file.replace(with: [5]) }
        #expect(try FileSystem.bytes(at: victim) == [1, 2, 3])
        #expect(try file.contents() == [4])
    }

    @Test("a link and a directory are refused")
    func strangers() throws {
        let directory = TemporaryDirectory()
        #expect(throws: LoopError.self) { try AppendFile(at: directory.path) }
        let link = directory.path("link")
        #expect(unsafe symlink(directory.path("elsewhere"), link) == 0)
        #expect(throws: LoopError.self) { try AppendFile(at: link) }
        #expect(directory.names == ["link"])
    }
}
