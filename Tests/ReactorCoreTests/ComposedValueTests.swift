import Testing

@testable import ReactorCore

/// Extracts a node's own state from a value composed with its children.
struct ComposedValueTests {
    private struct Family<State: WireCodable & Sendable>: Reactor {
        typealias Action = NoReply
        typealias Mutation = NoReply

        var initialState: State
        @Child var left = Tally()
        @Children var rooms = { (_: WireKey) in Tally() }

        func children(_ visitor: inout ChildVisitor) {
            visitor.child("left", _left)
            visitor.children("rooms", _rooms)
            visitor.child("right", Tally())
        }
    }

    @WireCodable
    struct Record: Equatable, Sendable {
        var state = 1
        var other = 2
    }

    @WireCodable
    struct Single: Equatable, Sendable {
        var state = 1
    }

    @WireCodable
    enum Choice: Equatable, Sendable {
        case idle
        case at(place: Int)
    }

    private func check<State: WireCodable & Equatable & Sendable>(_ state: State) throws {
        let reactor = Family(initialState: state)
        let tree = Tree(reactor, epoch: 1)
        var writer = WireWriter()
        tree.root.encodeValue(into: &writer)
        let names = try #require(ComposedValue.childNames(of: reactor))
        #expect(names == ["left", "rooms", "right"])
        let own = try ComposedValue.own(writer.bytes.span, without: names, State.wireSchema)
        #expect(try State(wireBytes: own) == state)
        let replica = Replica(reactor)
        replica.setPreviewable(false)
        try replica.stage(state: writer.bytes.span)
        replica.commit()
        #expect(replica.shown == state)
    }

    @Test("F24: the state is found in the encoding of a node, whatever its type")
    func shapes() throws {
        try check(Record())
        try check(Single())
        try check(Choice.idle)
        try check(Choice.at(place: 3))
        try check([1, 2, 3])
        try check("text")
        try check(["state": 1])
        try check(["a": 1, "b": 2])
        try check([:] as [String: Int])
        try check(Int?.none)
        try check(Int?.some(5))
    }

    @Test("a reactor without children has no child names")
    func childless() { #expect(ComposedValue.childNames(of: Tally()) == nil) }
}
