import ReactorCore
import Testing

@Suite("Mutations")
struct MutationsTests {
    @Test("F11: an array literal is a list of mutations, none is the empty list")
    func literals() {
        let none: Mutations<Int> = .none
        let empty: Mutations<Int> = []
        let one: Mutations<Int> = [7]
        let three: Mutations<Int> = [7, 8, 9]
        #expect([none, empty, one, three].map(\.count) == [0, 0, 1, 3])
        #expect(Mutations(7).count == 1)
        #expect(Mutations(sync: [1, 2]).count == 2)
        #expect(Mutations<Int>(async: Effect { _ in }).count == 0)
        #expect(Mutations<Meter.Mutation>(sync: .added(1)).count == 1)
        #expect(Mutations<Meter.Mutation>(sync: .added(1), async: Effect { _ in }).count == 1)
        let list = [1, 2, 3]
        #expect(Mutations(sync: list).count == 3)
    }

    @Test("F11: an action without mutations is applied, is a revision, and changes no node")
    func none() throws {
        let tree = Tree(Tally(), epoch: 1)
        #expect(try tree.send(Tally.Action.nothing) == "applied 1")
        #expect(try tree.send(Tally.Action.spread([])) == "applied 2")
        #expect(tree.root.sequence == 0)
        #expect(tree.deltas.isEmpty)
        #expect(try tree.state(of: Tally.self) == Tally.State())
    }

    @Test("appending to mutations does not change the original")
    func values() throws {
        let shop = Shop()
        let tree = Tree(shop, epoch: 1)
        let first = Mutations<Shop.Mutation>.none.creating(shop.$rooms, "a")
        _ = first.creating(shop.$rooms, "b")
        #expect(first.count == 0)
        #expect(try tree.send(Shop.Action.open("a")) == "applied 1")
        #expect(try tree.json("/rooms/b") == nil)
    }
}

/// Changes children by key, in the order of its action's list.
@Reactor
private struct Cabinet {
    @Child var tally = Tally()
    @Children var files = { (_: WireKey) in Tally() }

    enum Action: Equatable, Sendable { case change([Change]) }
    enum Mutation: Equatable, Sendable { case changed }
    struct State: Equatable, Sendable { var changes = 0 }

    @WireCodable
    enum Change: Equatable, Sendable {
        case create(String)
        case ensure(String)
        case remove(String)
        case restart(String)
        case add(String, Int)
        case addToAll(Int)
    }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .change(let changes): mutations(of: changes)
        }
    }

    private func mutations(of changes: [Change]) -> Mutations<Mutation> {
        changes.reduce(Mutations(.changed)) { mutations, change in
            switch change {
            case .create(let key): mutations.creating($files, WireKey(key))
            case .ensure(let key): mutations.ensuring($files, WireKey(key))
            case .remove(let key): mutations.removing($files, WireKey(key))
            case .restart(let key): mutations.restarting($files, WireKey(key))
            case .add(let key, let amount): mutations.also($files, WireKey(key), .added(amount))
            case .addToAll(let amount): mutations.also($tally, .added(amount))
            }
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.changes += 1 }

    @Reacts(to: \Cabinet.$tally)
    func tallied(_ mutation: Tally.Mutation) -> Mutations<Mutation> {
        mutations(of: [.add("gone", 1), .create("b"), .create("c"), .restart("nowhere")])
    }
}

@Suite("Changes of children by key")
struct KeyedChangeTests {
    private let tree = Tree(Cabinet(), epoch: 1)

    private func send(_ changes: Cabinet.Change...) throws -> String {
        let result = tree.dispatch(
            to: tree.root, Cabinet.Action.change(changes).wireBytes().span, by: .connection(1),
            ordinal: 1)
        guard case .failed(.rejected(let rejection)) = result else { return try result.text }
        return "\(rejection.code): \(rejection.message)"
    }

    @Test("a change of a missing child is refused with its key, and nothing changes")
    func missing() throws {
        for change in [Cabinet.Change.add("ada", 1), .restart("ada")] {
            let refusal =
                #"NOT_FOUND: /files: there is no child "ada": its parent has to create it first"#
            #expect(try send(.addToAll(1), change) == refusal)
        }
        #expect(try send(.create("ada"), .remove("ada"), .add("ada", 1)).hasPrefix("NOT_FOUND"))
        #expect(try tree.state(of: Cabinet.self).changes == 0)
        #expect(try tree.state(of: Tally.self, "/tally").sum == 0)
        #expect(tree.revision.sequence == 0 && tree.turn.complaints.isEmpty)
        #expect(try tree.json("/files") == "{}")
    }

    @Test("the creation of an existing child is refused with its key, and nothing changes")
    func existing() throws {
        #expect(try send(.create("ada"), .add("ada", 1)) == "applied 1")
        let refusal =
            #"CONFLICT: /files: there is a child "ada" already: remove it first, or use `ensuring` "#
            + "where it may stay"
        #expect(try send(.create("bob"), .create("ada")) == refusal)
        #expect(try send(.create("bob"), .create("bob")).hasPrefix("CONFLICT"))
        #expect(try tree.state(of: Cabinet.self).changes == 1 && tree.json("/files/bob") == nil)
        #expect(tree.revision.sequence == 1)
    }

    @Test("earlier changes of a key in the same action count")
    func order() throws {
        #expect(try send(.create("ada"), .add("ada", 1)) == "applied 1")
        #expect(try send(.remove("ada"), .create("ada"), .add("ada", 2)) == "applied 2")
        #expect(try tree.state(of: Tally.self, "/files/ada").sum == 2)
        #expect(try send(.ensure("ada"), .ensure("bob"), .add("bob", 3)) == "applied 3")
        #expect(try tree.state(of: Tally.self, "/files/ada").sum == 2)
        #expect(try tree.state(of: Tally.self, "/files/bob").sum == 3)
        #expect(try send(.remove("eve")) == "applied 4")
        #expect(tree.turn.complaints.isEmpty)
    }

    @Test("a reaction loses its changes with invalid keys, and the log names each")
    func reaction() throws {
        #expect(try send(.create("b")) == "applied 1")
        #expect(try send(.addToAll(1)) == "applied 2")
        #expect(tree.turn.complaints.count == 3)
        for key in ["gone", "b", "nowhere"] {
            #expect(tree.turn.complaints.contains { $0.contains("\"\(key)\"") })
        }
        #expect(try tree.state(of: Cabinet.self).changes == 3 && tree.json("/files/c") != nil)
    }
}
