import ReactorLoop
import Testing

@Suite struct FileIdentityTests {
    @Test("a file keeps its identity, and its successor at the same path has another")
    func tellsFilesApart() throws {
        let directory = TemporaryDirectory()
        let path = directory.path("file")
        #expect(FileIdentity(at: path) == nil)
        Files.makeFile(path)
        let first = try #require(FileIdentity(at: path))
        #expect(FileIdentity(at: path) == first)
        // The first file stays, because a freed inode number may be reused immediately.
        Files.move(path, to: directory.path("kept"))
        #expect(FileIdentity(at: directory.path("kept")) == first)
        Files.makeFile(path)
        #expect(FileIdentity(at: path) != first)
    }

    @Test("a link has an identity of its own, not its target's")
    func doesNotFollowLinks() {
        let directory = TemporaryDirectory()
        Files.makeFile(directory.path("file"))
        Files.makeLink(directory.path("link"), to: directory.path("file"))
        let link = FileIdentity(at: directory.path("link"))
        #expect(link != nil && link != FileIdentity(at: directory.path("file")))
    }
}
