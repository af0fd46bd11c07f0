import ReactorCore
import Testing

@Suite("ReactorID")
struct ReactorIDTests {
    @Test(
        "F62: a reactor is the same while it lives, and not the one that stood at its path before")
    func identity() throws {
        let tree = Tree(Shop(), epoch: 9)
        try tree.send(Shop.Action.open("a"))
        func id() throws -> ReactorID {
            tree.id(of: try #require(try tree.node(at: SlicePath("/rooms/a"))))
        }
        let first = try id()
        #expect(try id() == first && first.epoch == 9)
        try tree.send(Shop.Action.reopen("a"))
        #expect(try id() != first)
        let other = Tree(Shop(), epoch: 10)
        #expect(other.id(of: other.root) != tree.id(of: tree.root))
    }

    @Test("F62: reactors of two stores of one process are two, at the same place of their trees")
    func stores() throws {
        let first = Store(Census())
        let second = Store(Census())
        #expect(first.id != second.id)
        #expect(first.id == first.id && first.id.node == second.id.node)
        try first.dispatch(.count)
        try second.dispatch(.count)
        #expect(first.state.seen.first == first.id)
        #expect(Set(first.state.seen + second.state.seen).count == 4)
    }

    @Test("F62: it can be part of a state: it is compared, hashed and coded")
    func value() throws {
        let id = ReactorID(epoch: 1, node: 2)
        #expect(try ReactorID(wireBytes: id.wireBytes()) == id)
        #expect(Set([id, id, ReactorID(epoch: 1, node: 3)]).count == 2)
        #expect("\(id)" == "1#2")
    }

    @Test("F62: a decision knows which reactor it is of, and which its children are")
    func context() throws {
        let tree = Tree(Census(), epoch: 4)
        try tree.send(Census.Action.count)
        let child = try #require(try tree.node(at: SlicePath("/tally")))
        let expected = [tree.id(of: tree.root), tree.id(of: child)]
        #expect(try tree.state(of: Census.self).seen == expected)
    }
}

/// Keeps which reactors it saw.
@Reactor
struct Census {
    @Child var tally = Tally()

    enum Action: Sendable { case count }
    enum Mutation: Sendable { case seen([ReactorID]) }

    struct State: Equatable, Sendable { var seen: [ReactorID] = [] }

    func mutate(
        action: Action, state: State, context: Context<Census>
    ) throws(Rejection) -> Mutations<Mutation> {
        [.seen([context.id, context.id(of: $tally)])]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .seen(let ids): state.seen = ids
        }
    }
}
