import Testing

@testable import ReactorCore

/// A reactor that receives sent actions, and shows what each request of theirs leads to.
@Reactor
struct Machine {
    enum Action: Equatable, Sendable {
        case start(Int)
        case own(String)
        case plan
        case work
        case follow(Int)
        case say(String)
        case ask
    }
    enum Mutation: Equatable, Sendable {
        case started(Int)
        case ended([WireKey])
    }
    struct State: Equatable, Sendable {
        var starts: [Int] = []
        var ended: [WireKey] = []
    }
    enum Reply: Equatable, Sendable { case text(String) }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .start(let number):
            guard number > (state.starts.last ?? 0) else {
                throw Rejection("too_low", "start above \(state.starts.last ?? 0)")
            }
            return [.started(number)]
        case .own(let key):
            context.own(WireKey(key))
            return .none
        case .plan:
            return Mutations.none.scheduling("later", after: .seconds(1), Action.start(9))
        case .work: return Mutations(async: Effect { _ in })
        case .follow(let number):
            context.dispatch(.start(number))
            return .none
        case .say(let text):
            context.reply(.text(text))
            return .none
        case .ask:
            _ = context.deferReply()
            return [.started(100)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .started(let number): state.starts.append(number)
        case .ended(let keys): state.ended += keys
        }
    }

    func connectionEnded(
        _ owned: OwnedKeys, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        [.ended(owned.keys)]
    }
}

/// A reactor with machines that sends on what it receives.
@Reactor
struct Hangar {
    @Child var door = Machine()
    @Children var machines = { (_: WireKey) in Machine() }

    enum Action: Equatable, Sendable {
        case add(String)
        case forward(String, Machine.Action)
    }
    enum Mutation: Equatable, Sendable { case forwarded(String) }
    struct State: Equatable, Sendable { var forwarded: [String] = [] }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let key): Mutations.none.creating($machines, WireKey(key))
        case .forward(let key, let action):
            Mutations(.forwarded(key)).sending(action, to: $machines[WireKey(key)])
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .forwarded(let key): state.forwarded.append(key)
        }
    }
}

/// A root whose actions are lists of requests, and that sends to a hall what another child does.
@Reactor
struct Works {
    @Child var source = Tally()
    @Child var gate = Machine()
    @Child var yard = Hangar()
    @Children var halls = { (_: WireKey) in Hangar() }

    @WireCodable
    enum Request: Equatable, Sendable {
        case open(String)
        case close(String)
        case record(String, Int)
        case hall(String, Hangar.Action)
        case machine(String, String, Machine.Action)
        case gate(Machine.Action)
        case yardDoor(Machine.Action)
        case yardMachine(String, Machine.Action)
    }
    enum Action: Equatable, Sendable {
        case perform([Request])
        case answer(String, [Request])
    }
    enum Mutation: Equatable, Sendable { case noted(String) }
    struct State: Equatable, Sendable { var notes: [String] = [] }
    enum Reply: Equatable, Sendable { case text(String) }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .perform(let requests): return decided(requests)
        case .answer(let text, let requests):
            context.reply(.text(text))
            return decided(requests)
        }
    }

    private func decided(_ requests: [Request]) -> Mutations<Mutation> {
        requests.reduce(Mutations(.noted("\(requests.count)"))) { mutations, request in
            switch request {
            case .open(let hall): mutations.creating($halls, WireKey(hall))
            case .close(let hall): mutations.removing($halls, WireKey(hall))
            case .record(let hall, _):
                mutations.also($halls, WireKey(hall), .forwarded("recorded"))
            case .hall(let hall, let action): mutations.sending(action, to: $halls[WireKey(hall)])
            case .machine(let hall, let key, let action):
                mutations.sending(action, to: $halls[WireKey(hall)].$machines[WireKey(key)])
            case .gate(let action): mutations.sending(action, to: $gate)
            case .yardDoor(let action): mutations.sending(action, to: $yard.$door)
            case .yardMachine(let key, let action):
                mutations.sending(action, to: $yard.$machines[WireKey(key)])
            }
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .noted(let text): state.notes.append(text)
        }
    }

    @Reacts(to: \Works.$source)
    func heard(_ mutation: Tally.Mutation) -> Mutations<Mutation> {
        guard case .added(let amount) = mutation else { return .none }
        return Mutations(.noted("heard \(amount)"))
            .sending(.forward("m", .start(amount)), to: $yard)
            .sending(.start(amount), to: $gate)
    }
}

/// Removes its second file when its first one changes.
@Reactor
struct Folder {
    @Children var files = { (_: String) in Tally() }
    @Child var log = Tally()

    enum Action: Equatable, Sendable {
        case fill
        case change(isLogged: Bool)
    }
    enum Mutation: Equatable, Sendable { case lost(String) }
    struct State: Equatable, Sendable { var lost: [String] = [] }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .fill: return Mutations.none.creating($files, "a").creating($files, "b")
        case .change(let isLogged):
            let changes = Mutations<Mutation>.none.also($files, "a", .added(1))
                .also($files, "b", .added(2))
            return isLogged ? changes.sending(.add(3), to: $log) : changes
        }
    }

    @Reacts(to: \Folder.$files)
    func changed(_ mutation: Tally.Mutation, key: String) -> Mutations<Mutation> {
        key == "a" ? Mutations.none.removing($files, "b") : .none
    }

    func followerRejected(
        _ refusal: FollowerRefusal, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        [.lost("\(refusal.path)")]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .lost(let path): state.lost.append(path)
        }
    }
}

/// Drives ``ElsewhereWork``.
@Suite("Actions sent to descendants")
struct SendingTests {
    private typealias Action = Works.Action

    /// A tree with the hall `a`, in which the machine `m` stands, and a machine `m` in the yard.
    private func works() throws -> Tree {
        let tree = Tree(Works(), epoch: 1)
        try tree.send(
            Action.perform([.open("a"), .hall("a", .add("m"))]), from: 1, ordinal: 1)
        try tree.send(Hangar.Action.add("m"), to: "/yard")
        #expect(tree.revision.sequence == 2)
        tree.turn.begin()
        return tree
    }

    private func message(_ tree: Tree, _ action: Action) throws -> String {
        let result = tree.dispatch(
            to: tree.root, action.wireBytes().span, by: .connection(1), ordinal: 9)
        guard case .failed(.rejected(let rejection)) = result else { return "\(result)" }
        return "\(rejection)"
    }

    @Test("the descendant's own mutate decides, in the sender's transaction")
    func applied() throws {
        let tree = try works()
        let sent = Action.perform([
            .machine("a", "m", .start(4)), .gate(.start(5)), .yardDoor(.start(6)),
            .hall("a", .forward("m", .start(7))),
        ])
        #expect(try tree.send(sent) == "applied 3")
        #expect(tree.revision.sequence == 3)
        #expect(try tree.state(of: Machine.self, "/halls/a/machines/m").starts == [4, 7])
        #expect(try tree.state(of: Machine.self, "/gate").starts == [5])
        #expect(try tree.state(of: Machine.self, "/yard/door").starts == [6])
        #expect(try tree.state(of: Hangar.self, "/halls/a").forwarded == ["m"])
        #expect(Set(tree.deltas.map { $0.split(separator: "@")[1] }) == ["3"])
    }

    @Test("a child that a reaction removes before its mutation refuses a decision that sends")
    func removedByReaction() throws {
        let tree = Tree(Folder(), epoch: 1)
        try tree.send(Folder.Action.fill)
        let text = tree.dispatch(
            to: tree.root, Folder.Action.change(isLogged: true).wireBytes().span,
            by: .connection(1), ordinal: 1)
        #expect("\(text)".contains("NOT_FOUND"), "\(text)")
        #expect(try tree.state(of: Tally.self, "/files/a").sum == 0)
        #expect(try tree.state(of: Tally.self, "/log").sum == 0)
        #expect(try tree.reach("/files/b") == .found)
        // Without a sent action, the transaction cannot be rolled back, and the reactor decides.
        try tree.send(Folder.Action.change(isLogged: false))
        #expect(try tree.state(of: Tally.self, "/files/a").sum == 1)
        #expect(try tree.state(of: Folder.self).lost == ["/files/b"])
    }

    @Test("a refusal refuses the whole transaction, with its code and the descendant's path")
    func refused() throws {
        let tree = try works()
        let before = try tree.json()
        let sent = Action.perform([
            .open("b"), .hall("b", .add("n")), .machine("a", "m", .start(4)),
            .hall("a", .forward("m", .start(3))), .gate(.work),
        ])
        #expect(
            try message(tree, sent) == "too_low: /halls/a/machines/m: start above 4")
        #expect(try tree.json() == before)
        #expect(tree.revision.sequence == 2 && tree.deltas.isEmpty && tree.turn.effects.isEmpty)
        #expect(tree.turn.transaction.wishes.isEmpty && tree.turn.isShort(for: tree.root))
        // The refused child left nothing that stands in the way of another.
        #expect(try tree.send(Action.perform([.open("b"), .hall("b", .add("n"))])) == "applied 3")
    }

    @Test("an earlier request of the list may create the descendant, or remove it")
    func order() throws {
        let remedy = ": its parent has to create it first"
        let tree = try works()
        let created = Action.perform([
            .open("b"), .hall("b", .add("n")), .machine("b", "n", .start(1)),
            .record("b", 1), .machine("b", "n", .start(2)),
        ])
        #expect(try tree.send(created) == "applied 3")
        #expect(try tree.state(of: Machine.self, "/halls/b/machines/n").starts == [1, 2])
        let gone = Action.perform([.close("a"), .machine("a", "m", .start(1))])
        #expect(try message(tree, gone) == "NOT_FOUND: /halls: there is no child \"a\"\(remedy)")
        let early = Action.perform([.machine("c", "n", .start(1)), .open("c")])
        #expect(try message(tree, early) == "NOT_FOUND: /halls: there is no child \"c\"\(remedy)")
        #expect(
            try message(tree, .perform([.yardMachine("x", .start(1))]))
                == "NOT_FOUND: /yard/machines: there is no child \"x\"\(remedy)")
        let late = Action.perform([.gate(.start(1)), .record("d", 1)])
        #expect(try message(tree, late) == "NOT_FOUND: /halls: there is no child \"d\"\(remedy)")
        #expect(try tree.state(of: Machine.self, "/gate").starts == [])
        #expect(tree.mountedCount == 16)
    }

    @Test("effects, timers, ownership and followers are the caller's, as if it had sent the action")
    func requests() throws {
        let tree = try works()
        let sent = Action.perform([
            .gate(.own("k")), .gate(.plan), .gate(.work), .gate(.follow(3)),
        ])
        #expect(try tree.send(sent, from: 7, ordinal: 5) == "applied 3")
        #expect(try tree.state(of: Machine.self, "/gate").starts == [3])
        #expect(tree.revision.sequence == 4)
        #expect(tree.tasks.facts.map(\.name) == ["later"])
        let effect = try #require(tree.effects.running.values.first)
        #expect(effect.origin == Origin(client: 107, ordinal: 5))
        tree.endConnection(7)
        #expect(try tree.state(of: Machine.self, "/gate").ended == ["k"])
        // A refused transaction has none of them.
        let refused = Action.perform([
            .gate(.own("l")), .yardDoor(.plan), .gate(.work), .gate(.follow(4)),
            .gate(.start(0)),
        ])
        #expect(try tree.send(refused, from: 8) == "rejected too_low")
        tree.endConnection(8)
        #expect(tree.revision.sequence == 5 && tree.tasks.facts.count == 1)
        #expect(tree.effects.running.count == 1)
    }

    @Test("a sent action's reply is dropped, and one that defers its reply is refused")
    func replies() throws {
        let tree = try works()
        #expect(try tree.send(Action.perform([.gate(.say("no"))])) == "applied 3")
        let reply = try tree.send(Action.answer("mine", [.gate(.say("no"))]))
        #expect(reply == #"replied 4 {"text":"mine"}"#)
        let text = try message(tree, .perform([.gate(.ask)]))
        #expect(text.hasPrefix("DEFERRED: /gate: only the reactor that a client addresses"))
        #expect(try tree.state(of: Machine.self, "/gate").starts == [])
        #expect(try tree.send(Machine.Action.ask, to: "/gate") == "deferred 5")
    }

    @Test("a reaction is applied without a sent action that is refused, and the log names it")
    func reactions() throws {
        let tree = try works()
        #expect(try tree.send(Tally.Action.add(4), to: "/source") == "applied 3")
        #expect(try tree.state(of: Machine.self, "/yard/machines/m").starts == [4])
        #expect(try tree.state(of: Machine.self, "/gate").starts == [4])
        #expect(try tree.send(Machine.Action.start(9), to: "/yard/machines/m") == "applied 4")
        #expect(try tree.send(Tally.Action.add(5), to: "/source") == "applied 5")
        #expect(try tree.state(of: Works.self).notes == ["2", "heard 4", "heard 5"])
        #expect(try tree.state(of: Hangar.self, "/yard").forwarded == ["m"])
        #expect(try tree.state(of: Machine.self, "/gate").starts == [4, 5])
        #expect(
            tree.turn.complaints == [
                "/: an action that it sent is left out: too_low: /yard/machines/m: start above 9"
            ])
    }

    @Test("inside a batch, the rest of the batch stays when a reaction's action is left out")
    func batch() throws {
        let tree = try works()
        let applied = try tree.sendTogether([
            ("/yard/machines/m", Machine.Action.start(9)), ("/source", Tally.Action.add(5)),
            ("/", Action.perform([.gate(.start(6))])),
        ])
        #expect(applied == "applied 3")
        #expect(try tree.state(of: Machine.self, "/gate").starts == [5, 6])
        #expect(try tree.state(of: Hangar.self, "/yard").forwarded == [])
        #expect(tree.turn.complaints.count == 1)
        let before = try tree.json()
        let refused = try tree.sendTogether([
            ("/source", Tally.Action.add(10)), ("/", Action.perform([.gate(.start(1))])),
        ])
        #expect(refused == "rejected too_low")
        #expect(try tree.json() == before)
        #expect(tree.revision.sequence == 3)
    }

    @Test("a transaction that must shrink the tree is measured with what it sends")
    func shrinking() throws {
        let tree = try works()
        let before = try tree.json()
        func shrink(_ action: Action) throws -> String {
            var writer = WireWriter()
            action.encode(into: &writer)
            return try writer.withBytes { bytes in
                tree.transactShrinking(
                    [Tree.BatchItem(node: tree.root, range: 0..<bytes.count)], bytes,
                    by: .connection(1), ordinal: 1, else: Rejection(.diskFull, "no space"))
            }.result.text
        }
        #expect(try shrink(.perform([.gate(.start(1))])) == "rejected DISK_FULL")
        #expect(try tree.json() == before)
        #expect(try shrink(.perform([.gate(.start(1)), .close("a")])) == "applied 3")
    }

    @Test("an action sent into a stream is carried out later, and the client's is applied")
    func streamed() throws {
        let tree = Tree(Postbox(), epoch: 1)
        #expect(try tree.send(Postbox.Action.post(3)) == "applied 1")
        #expect(try tree.state(of: Postbox.self).posted == 1)
        #expect(try tree.send(Adder.Action.add(4), to: "/sorter") == "accepted 2")
    }

    @Test("an action is applied although a mutation of its child went into that child's stream")
    func streamedMutation() throws {
        let tree = Tree(Postbox(), epoch: 1)
        #expect(try tree.send(Postbox.Action.stamp(3)) == "applied 1")
        #expect(try tree.send(Adder.Action.add(4), to: "/stamps") == "accepted 2")
    }

    @Test("a preview shows the sender's own mutations")
    func preview() throws {
        let preview = Preview(Works())
        try preview.apply(.perform([.gate(.start(1)), .yardMachine("none", .start(1))]))
        #expect(preview.state.notes == ["2"])
    }

    @Test("an action that causes itself by reactions is cut, with LOOP in the log")
    func loop() throws {
        let tree = Tree(Echoes(), epoch: 1)
        #expect(try tree.send(Echoes.Action.start) == "applied 1")
        #expect(try tree.state(of: Tally.self, "/child").sum == CoreLimits.sendDepthMax)
        #expect(
            tree.turn.complaints == [
                "/: an action that it sent is left out: LOOP: /child: an action is sent at depth "
                    + "65, after 64 in this transaction; sendDepthMax is 64, sendsMax is 65536"
            ])
        #expect(tree.turn.isShort(for: tree.root))
    }
}

/// A reactor that sends to a child what the child's mutations make it send.
@Reactor
private struct Echoes {
    @Child var child = Tally()

    enum Action: Equatable, Sendable { case start }
    enum Mutation: Equatable, Sendable { case none }
    struct State: Equatable, Sendable { var count = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        Mutations.none.sending(.add(1), to: $child)
    }

    func reduce(state: inout State, mutation: Mutation) {}

    @Reacts(to: \Echoes.$child)
    func heard(_ mutation: Tally.Mutation) -> Mutations<Mutation> {
        Mutations.none.sending(.add(1), to: $child)
    }
}

/// Sends to a reactor that takes its actions from a stream.
@Reactor
private struct Postbox {
    @Child var sorter = Adder(actions: { $0.stream { $0 } })
    @Child var stamps = Adder(mutations: { $0.stream { $0 } })

    enum Action: Equatable, Sendable {
        case post(Int)
        case stamp(Int)
    }
    enum Mutation: Equatable, Sendable { case posted }
    struct State: Equatable, Sendable { var posted = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .post(let number): Mutations(.posted).sending(.add(number), to: $sorter)
        case .stamp(let number): Mutations(.posted).also($stamps, .added(number))
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.posted += 1 }
}
