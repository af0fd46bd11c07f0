import Glibc
import ReactorLoop
import Testing

struct FileSystemTests {
    @Test("a file is read to its end, or to the limit, and an endless device to the limit")
    func bytes() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/file"
        let bytes = (0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 / 7) }
        Files.write(bytes, to: path)
        #expect(try FileSystem.bytes(at: path) == bytes)
        #expect(try FileSystem.bytes(at: path, byteCountMax: 5) == Array(bytes[..<5]))
        #expect(try FileSystem.bytes(at: "/dev/zero", byteCountMax: 2 << 20).count == 2 << 20)
        #expect(try FileSystem.bytes(at: "/dev/null").isEmpty)
    }

    @Test("an unreadable file is refused with the system's code and the path")
    func refusals() throws {
        let directory = TemporaryDirectory()
        let missing = directory.path + "/none"
        let absent = #expect(throws: CallFailure.self) { try FileSystem.bytes(at: missing) }
        #expect(absent?.errnoCode == ENOENT && absent?.subject == missing)
        let folder = #expect(throws: CallFailure.self) {
            try FileSystem.bytes(at: directory.path)
        }
        #expect(folder?.errnoCode == EISDIR && folder?.subject == directory.path)
    }

    @Test("directories are made with their parents, for their owner only, and can be listed")
    func directories() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/a//b/c"
        defer {
            for name in ["/a/b/c", "/a/b"] { unsafe rmdir(directory.path + name) }
        }
        FileSystem.makeDirectories(path)
        #expect(FileSystem.isDirectory(path) && !FileSystem.isDirectory(path + "/d"))
        #expect(Files.mode(of: path) & 0o777 == 0o700)
        #expect(FileSystem.isOwned(path, by: geteuid()))
        #expect(!FileSystem.isOwned(path, by: geteuid() + 1))
        #expect(!FileSystem.isOwned(path + "/d", by: geteuid()))
        #expect(FileSystem.names(in: directory.path) == ["a"])
        #expect(FileSystem.names(in: path + "/d").isEmpty)
    }

    @Test("a file is replaced as a whole, everybody may read it, and a failure keeps the old one")
    func replace() throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/file"
        defer { unsafe unlink(path) }
        try FileSystem.replace(path, with: [1, 2, 3])
        try FileSystem.replace(path, with: [4])
        #expect(try FileSystem.bytes(at: path) == [4])
        #expect(Files.mode(of: path) & 0o777 == 0o644)
        #expect(FileSystem.names(in: directory.path) == ["file"])
        let refused = #expect(throws: CallFailure.self) {
            try FileSystem.replace(directory.path + "/none/file", with: [5])
        }
        #expect(refused?.errnoCode == ENOENT)
    }

    @Test("X115: a link planted at the name of the new file leads no bytes elsewhere")
    func planted() throws {
        let directory = TemporaryDirectory()
        let (victim, path) = (directory.path("victim"), directory.path("file"))
        Files.write([1, 2, 3], to: victim)
        for isHard in [true, false] {
            if isHard {
                #expect(unsafe link(victim, path + ".new") == 0)
            } else {
                Files.makeLink(path + ".new", to: victim)
            }
            try FileSystem.replace(path, with: [9])
            #expect(try FileSystem.bytes(at: path) == [9])
            #expect(try FileSystem.bytes(at: victim) == [1, 2, 3])
            #expect(Files.mode(of: victim) == S_IFREG | 0o600)
        }
        #expect(Set(directory.names) == ["file", "victim"])
    }
}
