import Testing

@testable import ReactorCore

/// Records what it is told of its children.
@Reactor
private struct Lodge {
    @Child var bell = Tally()
    @Children(.leased) var guests = { (_: WireKey) in Lodger() }
    @Children var pets = { (_: WireKey) in Tally() }

    enum Action: Equatable, Sendable {
        case adopt([String])
        case replace(String)
        case wait
        case refuse
    }
    enum Mutation: Equatable, Sendable {
        case noted(String)
        case waiting(ReplyTicket)
    }
    struct State: Equatable, Sendable {
        var notes: [String] = []
        var tickets: [ReplyTicket] = []
    }
    enum Reply: Equatable, Sendable { case text(String) }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .adopt(let names):
            return names.reduce(Mutations.none) { $0.creating($pets, WireKey($1)) }
        case .replace(let name):
            return Mutations.none.removing($pets, WireKey(name)).creating($pets, WireKey(name))
        case .wait: return [.waiting(context.deferReply())]
        case .refuse: throw Rejection("no", "refused")
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .noted(let note): state.notes.append(note)
        case .waiting(let ticket): state.tickets.append(ticket)
        }
    }

    @Reacts(to: \Lodge.$guests)
    func guestDid(_ mutation: Lodger.Mutation, key: WireKey) -> Mutations<Mutation> {
        [.noted("\(key) \(mutation)")]
    }

    @Reacts(to: \Lodge.$bell)
    func rang(
        _ mutation: Tally.Mutation, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        context.reply(.text("dropped"))
        context.own("bell")
        for ticket in state.tickets {
            context.answer(ticket, with: .text("rung by \(context.caller.connection)"))
        }
        context.dispatch(.adopt(["p\(context.cause.ordinal)"]))
        return [.noted("rang")]
    }

    func childrenChanged(
        _ change: ChildrenChange, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        if let pet = change.created(in: $pets) {
            let isThere = context.state(of: $pets, pet) != nil
            return [.noted("\(pet) came, here: \(isThere)")]
        }
        if let pet = change.removed(in: $pets) {
            let isThere = context.state(of: $pets, pet) != nil
            return [.noted("\(pet) went, here: \(isThere)")]
        }
        if let guest = change.created(in: $guests) { return [.noted("\(guest) came")] }
        if let guest = change.removed(in: $guests) { return [.noted("\(guest) went")] }
        return .none
    }

    func connectionEnded(
        _ owned: OwnedKeys, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        [.noted("end of \(owned.connection): \(owned.keys)")]
    }
}

/// A reactor that begins with a mutation.
@Reactor
private struct Lodger {
    enum Action: Equatable, Sendable { case idle }
    enum Mutation: Equatable, Sendable { case started }
    struct State: Equatable, Sendable { var isStarted = false }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> { .none }
    func reduce(state: inout State, mutation: Mutation) { state.isStarted = true }
    func start(state: State) -> Mutations<Mutation> { [.started] }
}

/// A reactor that answers each child with another.
@Reactor
private struct Rabbits {
    @Children var all = { (_: WireKey) in Tally() }

    enum Action: Equatable, Sendable { case begin }
    enum Mutation: Equatable, Sendable { case born }
    struct State: Equatable, Sendable { var count = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        Mutations.none.creating($all, "0")
    }

    func reduce(state: inout State, mutation: Mutation) { state.count += 1 }

    func childrenChanged(
        _ change: ChildrenChange, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        Mutations(.born).creating($all, WireKey("\(state.count + 1)"))
    }
}

@Suite("ChildrenChange")
struct ChildrenChangeTests {
    private func lodge() -> Tree {
        let tree = Tree(Lodge(), epoch: 1)
        tree.open()
        return tree
    }

    private func notes(_ tree: Tree) throws -> [String] { try tree.state(of: Lodge.self).notes }

    @Test("a parent is told of the children that it creates and removes, in that transaction")
    func decided() throws {
        let tree = lodge()
        #expect(try tree.send(Lodge.Action.adopt(["a", "b"])) == "applied 1")
        #expect(try tree.send(Lodge.Action.replace("a")) == "applied 2")
        #expect(tree.revision.sequence == 2)
        #expect(
            try notes(tree) == [
                "a came, here: true", "b came, here: true", "a went, here: false",
                "a came, here: true",
            ])
    }

    @Test("a parent is told of leased children, after their own start, and when leases end")
    func leased() throws {
        let tree = lodge()
        let lease = LeaseAction.lease(key: "ada", definesLifecycle: true)
        #expect(try tree.send(lease, to: "/guests", from: 4) == "applied 1")
        #expect(try tree.send(lease, to: "/guests", from: 5) == "applied 2")
        tree.endConnection(4)
        #expect(try notes(tree) == ["ada started", "ada came"])
        tree.endConnection(5)
        #expect(try notes(tree) == ["ada started", "ada came", "ada went"])
    }

    @Test("a refused transaction takes the reactions back")
    func refused() throws {
        let tree = lodge()
        let refused = try tree.sendTogether([
            ("/", Lodge.Action.adopt(["a"])), ("/", Lodge.Action.refuse),
        ])
        #expect(refused == "rejected no")
        #expect(try notes(tree) == [] && tree.deltas.isEmpty)
    }

    @Test("a replay applies what the reactions decided, and calls none of them again")
    func replayed() throws {
        let tree = lodge()
        try tree.send(Lodge.Action.adopt(["a", "b"]))
        try tree.send(Lodge.Action.replace("b"))
        let again = Tree(Lodge(), epoch: 1)
        let recovery = TreeRecovery(of: again)
        try recovery.assign(tree.staticRecords)
        try recovery.replay(tree.turn.deltaBytes.span)
        try recovery.finish(epoch: 1, sequence: tree.turn.sequence)
        #expect(try again.json() == tree.json())
        #expect(try notes(again).count == 4)
    }

    @Test("a reaction that causes itself is cut")
    func loop() throws {
        let tree = Tree(Rabbits(), epoch: 1)
        #expect(try tree.send(Rabbits.Action.begin) == "applied 1")
        #expect(try tree.state(of: Rabbits.self).count == CoreLimits.reactionDepthMax)
        #expect(tree.turn.complaints.count == 1)
        #expect(tree.turn.complaints[0].hasPrefix("LOOP: the reactions of / are cut at depth 64"))
    }

    @Test("a reaction's context answers, owns and dispatches; the reply is the child's")
    func context() throws {
        let tree = lodge()
        #expect(try tree.send(Lodge.Action.wait, from: 2, ordinal: 8) == "deferred 1")
        let rung = try tree.send(Tally.Action.add(1), to: "/bell", from: 3, ordinal: 9)
        #expect(rung == "applied 2")
        let answers = try tree.turn.takeResolutions().map { try $0.text }
        #expect(answers == [#"102/8 at 2: {"text":"rung by 3"}"#])
        #expect(tree.revision.sequence == 3)
        tree.endConnection(3)
        #expect(
            try notes(tree) == ["rang", "p9 came, here: true", #"end of 3: [bell]"#])
    }

    @Test("a reaction cannot defer the answer to the child's action: the log names it")
    func deferral() throws {
        let tree = Tree(Deferring(), epoch: 1)
        #expect(try tree.send(Tally.Action.add(1), to: "/child") == "applied 1")
        #expect(tree.turn.complaints.count == 1)
        #expect(tree.turn.complaints[0].hasPrefix("DEFERRED: /: only the reactor that a client"))
    }
}

/// A parent that tries to defer the answer to its child's actions.
@Reactor
private struct Deferring {
    @Child var child = Tally()

    enum Action: Equatable, Sendable { case idle }
    struct State: Equatable, Sendable { var count = 0 }

    @Reacts(to: \Deferring.$child)
    func heard(
        _ mutation: Tally.Mutation, context: ReactorContext<Self>
    ) -> Mutations<Action> {
        _ = context.deferReply()
        return .none
    }
}
