import ReactorCore
import Testing

@Suite("AnyNode: the composed value")
struct AnyNodeTests {
    @Test("F63: a parent's value contains its fields and its children, in the order of their keys")
    func composed() throws {
        let tree = Tree(Shop(), epoch: 1)
        #expect(
            try tree.json() == #"{"notes":[],"rooms":{},"visits":{"sum":0,"history":[]}}"#)
        try tree.send(Shop.Action.open("b"))
        try tree.send(Shop.Action.open("a"))
        #expect(
            try tree.json("/rooms")
                == #"{"a":{"name":"a","chairs":0,"guests":{"sum":0,"history":[]}},"#
                + #""b":{"name":"b","chairs":0,"guests":{"sum":0,"history":[]}}}"#)
    }

    @Test("a composed value is deterministic CBOR: decoding and encoding it gives the same bytes")
    func deterministic() throws {
        let tree = Tree(Shop(), epoch: 1)
        for name in ["zz", "a", "bbb", "b"] { try tree.send(Shop.Action.open(name)) }
        var writer = WireWriter()
        tree.root.encodeValue(into: &writer)
        #expect(try WireValue(wireBytes: writer.bytes).wireBytes() == writer.bytes)
    }

    @Test("a path leads through children into fields")
    func paths() throws {
        let tree = Tree(Shop(), epoch: 1)
        try tree.send(Shop.Action.visit(4))
        try tree.send(Shop.Action.open("a"))
        #expect(try tree.json("/visits/sum") == "4")
        #expect(try tree.json("/visits/history/0") == "4")
        #expect(try tree.json("/notes/0") == "\"visit after 0\"")
        #expect(try tree.json("/rooms/a/guests/sum") == "0")
        #expect(try tree.reach("/visits/history/1") == .absent)
        #expect(try tree.reach("/visits/total") == .impossible)
        // A child can only be below its field's parent; `encodeValue(at:)` handles both.
        var writer = WireWriter()
        #expect(tree.root.encodeValue(at: ["rooms", "a", "chairs"], into: &writer) == .found)
        #expect(writer.bytes == [0])
    }

    @Test("a changed node is listed once a turn if it or a node above it is watched")
    func watched() throws {
        let tree = Tree(Shop(), epoch: 1)
        let visits = try #require(try tree.node(at: SlicePath("/visits")))
        tree.root.isWatched = true
        visits.isWatched = true
        try tree.send(Shop.Action.open("a"))
        try tree.send(Tally.Action.add(1), to: "/visits")
        try tree.send(Tally.Action.add(1), to: "/visits")
        let room = try #require(try tree.node(at: SlicePath("/rooms/a")))
        #expect(
            tree.turn.touched.map(\.number) == [tree.root.number, room.number, visits.number])
        tree.turn.begin()
        #expect(tree.turn.touched.isEmpty)
        tree.root.isWatched = false
        try tree.send(Shop.Action.open("b"))
        #expect(tree.turn.touched.isEmpty)
        try tree.send(Tally.Action.add(1), to: "/visits")
        #expect(tree.turn.touched.map(\.number) == [visits.number])
    }

    @Test("types and children decide whether a path is possible, without a value")
    func allows() throws {
        let tree = Tree(Shop(), epoch: 1)
        try tree.send(Shop.Action.open("a"))
        func allows(_ text: String) throws -> Bool {
            tree.root.allows(try SlicePath(text).components[...])
        }
        for path in ["/", "/visits", "/visits/sum", "/visits/history/9", "/rooms/a/guests/sum"] {
            #expect(try allows(path), "\(path)")
        }
        // A child with that key may be created.
        #expect(try allows("/rooms/z/anything"))
        for path in ["/vists", "/visits/total", "/visits/sum/x", "/rooms/a/guests/total"] {
            #expect(try !allows(path), "\(path)")
        }
    }
}
