import ReactorCore
import Testing

/// A parent that sends to a child and reacts to the child and to each of its rooms.
@Reactor
struct Family<Name: WireCodable & Sendable & Equatable> {
    @Child private var savings = Tally()
    @Child var expenses = Tally()
    @Children var guests = { (_: WireKey) in Tally() }

    enum Action: Equatable {
        case give(Int)
        case invite(String)
    }
    enum Mutation: Equatable { case noted(String, Name?) }
    struct State: Equatable { var notes: [String] = [] }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .give(let amount): Mutations.none.also($savings, .added(amount))
        case .invite(let name): Mutations.none.creating($guests, WireKey(name))
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .noted(let note, _): state.notes.append(note)
        }
    }

    @Reacts(to: \Family.$savings)
    private func saved(_ mutation: Tally.Mutation, state: State) -> Mutations<Mutation> {
        [.noted("saved \(mutation) after \(state.notes.count)", nil)]
    }

    @Reacts(to: \Family.$expenses)
    func spent(_ mutation: Tally.Mutation) -> Mutations<Mutation> {
        guard case .added(let amount) = mutation else { return .none }
        return Mutations(.noted("spent \(amount)", nil)).also($savings, .added(-amount))
    }

    @Reacts(to: \Family.$guests)
    func guestDid(
        _ mutation: Tally.Mutation, key: WireKey, state: State
    ) -> Mutations<Mutation> {
        [.noted("\(key): \(mutation) after \(state.notes.count)", nil)]
    }
}

@Suite("@Reacts")
struct ReactsTests {
    @Test("F65: a parent's action reaches its child, and the child's mutation reaches the parent")
    func bothWays() throws {
        let tree = Tree(Family<String>(), epoch: 1)
        #expect(Family<String>.isReacting)
        #expect(try tree.send(Family<String>.Action.give(3)) == "applied 1")
        #expect(try tree.state(of: Tally.self, "/savings").sum == 3)
        #expect(try tree.send(Tally.Action.add(4), to: "/savings") == "applied 2")
        #expect(
            try tree.state(of: Family<String>.self).notes
                == ["saved added(3) after 0", "saved added(4) after 1"])
    }

    @Test("F65: a reaction to one child may change another, in one transaction")
    func siblings() throws {
        let tree = Tree(Family<Int>(), epoch: 1)
        #expect(try tree.send(Tally.Action.add(5), to: "/expenses") == "applied 1")
        #expect(try tree.state(of: Tally.self, "/savings").sum == -5)
        #expect(
            try tree.state(of: Family<Int>.self).notes == ["spent 5", "saved added(-5) after 1"])
        #expect(tree.revision.sequence == 1)
    }

    @Test("F65: a keyed child's mutation reaches the parent with its key")
    func keyed() throws {
        let tree = Tree(Family<Int>(), epoch: 1)
        try tree.send(Family<Int>.Action.invite("ada"))
        try tree.send(Family<Int>.Action.invite("savings"))
        #expect(try tree.send(Tally.Action.add(1), to: "/guests/ada") == "applied 3")
        #expect(try tree.send(Tally.Action.nothing, to: "/guests/ada") == "applied 4")
        #expect(try tree.send(Tally.Action.add(2), to: "/guests/savings") == "applied 5")
        #expect(
            try tree.state(of: Family<Int>.self).notes
                == ["ada: added(1) after 0", "savings: added(2) after 1"])
    }
}
