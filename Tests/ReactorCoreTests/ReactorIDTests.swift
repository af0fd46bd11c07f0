import ReactorCore
import Testing

@Suite("ReactorID")
struct ReactorIDTests {
    @Test(
        "F62: a reactor keeps its id while it exists, and differs from its predecessor at the path")
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

    @Test("F62: reactors of two stores in one process differ, even at the same path")
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

    @Test("F62: an id can be part of a state: it is compared, hashed and encoded")
    func value() throws {
        let id = ReactorID(epoch: 1, node: 2)
        #expect(try ReactorID(wireBytes: id.wireBytes()) == id)
        #expect(Set([id, id, ReactorID(epoch: 1, node: 3)]).count == 2)
        #expect("\(id)" == "1#2")
    }

    @Test("F62: a decision knows its reactor's id and its children's")
    func context() throws {
        let tree = Tree(Census(), epoch: 4)
        try tree.send(Census.Action.count)
        let child = try #require(try tree.node(at: SlicePath("/tally")))
        let expected = [tree.id(of: tree.root), tree.id(of: child)]
        #expect(try tree.state(of: Census.self).seen == expected)
    }
}

/// Records the ids of reactors.
@Reactor
struct Census {
    @Child var tally = Tally()

    enum Action: Sendable { case count }
    enum Mutation: Sendable { case seen([ReactorID]) }

    struct State: Equatable, Sendable { var seen: [ReactorID] = [] }

    func mutate(
        action: Action, state: State, context: ReactorContext<Census>
    ) throws(Rejection) -> Mutations<Mutation> {
        [.seen([context.id, context.id(of: $tally)])]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .seen(let ids): state.seen = ids
        }
    }
}
