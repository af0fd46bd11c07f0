import ReactorCore
import Testing

@Suite("Turn")
struct TurnTests {
    @Test("a delta has the changed node, the sequence, and the origin of the action")
    func delta() throws {
        let tree = Tree(Tally(), epoch: 1)
        tree.root.isReplicated = true
        try tree.send(Tally.Action.spread([1, 2]), from: 4, ordinal: 77)
        let change = try #require(tree.turn.changes.first)
        #expect(tree.turn.changes.count == 1)
        #expect(change.node === tree.root)
        try tree.turn.withDeltas { bytes throws(WireError) in
            var cursor = WireCursor(offset: change.start + FrameHeader.byteCount)
            #expect(try Origin.decode(bytes, &cursor) == Origin(client: 104, ordinal: 77))
            #expect(try Tally.Mutation.decode(bytes, &cursor) == .added(1))
            #expect(try Tally.Mutation.decode(bytes, &cursor) == .added(2))
            #expect(cursor.offset == change.end)
        }
    }

    @Test("changes are listed for replicated nodes only, deltas are written for all")
    func replicatedOnly() throws {
        let tree = Tree(Shop(), epoch: 1)
        tree.node(at: try SlicePath("/visits"))?.isReplicated = true
        try tree.send(Shop.Action.visit(1))
        #expect(tree.deltas.count == 2)
        #expect(tree.turn.changes.map { $0.node.path.description } == ["/visits"])
    }

    @Test("a tree without observers outside writes no deltas")
    func unrecorded() throws {
        let tree = Tree(Tally(), epoch: 1, recordsDeltas: false)
        #expect(try tree.send(Tally.Action.add(3)) == "applied 1")
        #expect(try tree.send(Tally.Action.spread([1, 1])) == "applied 2")
        #expect(tree.turn.deltaByteCount == 0)
        #expect(try tree.state(of: Tally.self).sum == 5)
    }

    @Test("a new turn clears the last one, and continues the sequence")
    func begins() throws {
        let tree = Tree(Shop(), epoch: 1)
        tree.root.isReplicated = true
        try tree.send(Shop.Action.open("a"))
        try tree.send(Shop.Action.close("a"))
        #expect(tree.turn.removed.count == 2)
        tree.turn.begin()
        #expect(tree.turn.removed.isEmpty && tree.turn.changes.isEmpty)
        #expect(tree.turn.deltaByteCount == 0)
        #expect(try tree.send(Shop.Action.visit(1)) == "applied 3")
    }
}
