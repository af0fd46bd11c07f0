import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// The sources from which answers are encoded.
struct AnswerSourceTests {
    private let source = AnswerSource(tree: TestTree.make())

    @Test("all spellings of a path have one canonical form, and a field of a replica is refused")
    func names() throws {
        let name = try source.name(.value, "/page/title")
        #expect(try source.name(.value, "/page/%74itle") == name)
        #expect(try Array(source.locate(name).field) == ["title"])
        let replica = try source.name(.replica, "/page/title")
        #expect(throws: Refusal.self) { try source.locate(replica) }
    }

    @Test("a description lists all children of a node, and a value is its state")
    func captures() throws {
        let name = try source.name(.description, "/")
        let encoding = source.capture(name, try source.locate(name)).encode()
        let description = try NodeDescription(wireBytes: encoding.bytes)
        #expect(description.children.sorted() == ["house", "other", "page", "visits"])
        let value = try source.name(.value, "/visits")
        let state = try Tally.State(
            wireBytes: source.capture(value, try source.locate(value)).encode().bytes)
        #expect(state == Tally.State())
    }
}
