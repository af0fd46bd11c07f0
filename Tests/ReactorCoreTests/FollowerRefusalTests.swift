import Testing

@testable import ReactorCore

/// A root with a child that dispatches to machines below it, beside it and elsewhere.
@Reactor
private struct Plant {
    @Child var press = Machine()
    @Child var foreman = Foreman()

    enum Action: Equatable, Sendable { case idle }
    struct State: Equatable, Sendable { var count = 0 }
}

/// A reactor that dispatches, and decides what follows from refusals.
@Reactor
private struct Foreman {
    @Child var machine = Machine()
    @Children var machines = { (_: WireKey) in Machine() }

    enum Action: Equatable, Sendable {
        case below(Int)
        case addAndStart(String, Int)
        case start(String, Int)
        case beside(Int)
        case wrongType
        case unreadable
        case quietly(Int)
        case again
        case wait(Int)
        case many(Int)
    }
    enum Mutation: Equatable, Sendable {
        case refused(String)
        case waiting(ReplyTicket)
        case quiet(Bool)
        case repeating
    }
    struct State: Equatable, Sendable {
        var refusals: [String] = []
        var ticket: ReplyTicket?
        var isQuiet = false
        var repeats = 0
        var isRepeating = false
    }
    enum Reply: Equatable, Sendable { case text(String) }

    static let press = ReactorPath(Plant.self).child(\.$press)
    static let tally = ReactorPath(at: try? SlicePath("/press")) { Tally() }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .below(let number): context.dispatch(.start(number), to: $machine)
        case .addAndStart(let key, let number):
            context.dispatch(.start(number), to: $machines[WireKey(key)])
            return Mutations.none.creating($machines, WireKey(key))
        case .start(let key, let number):
            context.dispatch(.start(number), to: $machines[WireKey(key)])
        case .many(let count):
            for number in 1...count { context.dispatch(.start(number), to: $machine) }
        case .beside(let number): context.dispatch(.start(number), to: Self.press)
        case .wrongType: context.dispatch(.nothing, to: Self.tally)
        case .unreadable: context.dispatch(Self.press.path, WireKey("nonsense"))
        case .quietly(let number):
            context.dispatch(.start(number), to: $machine)
            return [.quiet(true)]
        case .again:
            context.dispatch(.start(0), to: $machine)
            return [.repeating]
        case .wait(let number):
            context.dispatch(.start(number), to: $machine)
            return [.waiting(context.deferReply())]
        }
        return .none
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .refused(let text): state.refusals.append(text)
        case .waiting(let ticket): state.ticket = ticket
        case .quiet(let isQuiet): state.isQuiet = isQuiet
        case .repeating:
            state.repeats += 1
            state.isRepeating = true
        }
    }

    func followerRejected(
        _ refusal: FollowerRefusal, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        if state.isQuiet { return .none }
        if state.isRepeating {
            context.dispatch(.start(0), to: $machine)
            return [.repeating]
        }
        if let ticket = state.ticket {
            context.refuse(ticket, refusal.rejection)
            return .none
        }
        return [
            .refused(
                "\(refusal.path) \(refusal.rejection.code) \(refusal.actionName ?? "-") for "
                    + "\(context.caller.connection)")
        ]
    }
}

/// A root whose reaction to one child asks for what others refuse.
@Reactor
private struct Yard {
    @Child var source = Machine()
    @Child var gate = Machine()
    @Children var machines = { (_: WireKey) in Machine() }

    enum Action: Equatable, Sendable { case idle }
    enum Mutation: Equatable, Sendable {
        case heard
        case refused(String)
    }
    struct State: Equatable, Sendable {
        var heard = 0
        var refusals: [String] = []
    }

    @Reacts(to: \Yard.$source)
    func changed(_ mutation: Machine.Mutation) -> Mutations<Mutation> {
        Mutations(.heard).sending(.start(0), to: $gate)
            .restarting($machines, WireKey("none"))
            .creating($machines, WireKey("a"))
            .creating($machines, WireKey("a"))
            .sending(.start(3), to: $machines[WireKey("a")])
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .heard: state.heard += 1
        case .refused(let text): state.refusals.append(text)
        }
    }

    func followerRejected(
        _ refusal: FollowerRefusal, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        [.refused("\(refusal.path) \(refusal.rejection.code) \(refusal.actionName ?? "-")")]
    }
}

extension ReactorPath {
    fileprivate init(at base: SlicePath?, _ make: @escaping @Sendable () -> Target) {
        self.init(at: base ?? .root, make)
    }
}

@Suite("FollowerRefusal")
struct FollowerRefusalTests {
    private func send(_ action: Foreman.Action, to tree: Tree) throws -> String {
        try tree.send(action, to: "/foreman", from: 3, ordinal: 6)
    }

    private func refusals(_ tree: Tree) throws -> [String] {
        try tree.state(of: Foreman.self, "/foreman").refusals
    }

    @Test("typed followers go to reactors below, created in the same decision, and beside")
    func typed() throws {
        let tree = Tree(Plant(), epoch: 1)
        #expect(try send(.below(2), to: tree) == "applied 1")
        #expect(try send(.addAndStart("a", 3), to: tree) == "applied 3")
        #expect(try send(.beside(4), to: tree) == "applied 5")
        #expect(tree.revision.sequence == 6 && tree.turn.complaints.isEmpty)
        #expect(try tree.state(of: Machine.self, "/foreman/machine").starts == [2])
        #expect(try tree.state(of: Machine.self, "/foreman/machines/a").starts == [3])
        #expect(try tree.state(of: Machine.self, "/press").starts == [4])
    }

    @Test("a refusal reaches the reactor that asked, in a transaction of its own")
    func told() throws {
        let tree = Tree(Plant(), epoch: 1)
        #expect(try send(.below(0), to: tree) == "applied 1")
        #expect(tree.revision.sequence == 2 && tree.turn.complaints.isEmpty)
        #expect(try send(.start("b", 1), to: tree) == "applied 3")
        #expect(try send(.unreadable, to: tree) == "applied 5")
        #expect(try send(.wrongType, to: tree) == "applied 7")
        #expect(
            try refusals(tree) == [
                "/foreman/machine too_low start for 3",
                "/foreman/machines/b NOT_FOUND start for 3",
                "/press DECODE nonsense for 3",
                "/press NOT_FOUND nothing for 3",
            ])
        #expect(tree.turn.complaints.isEmpty)
    }

    @Test("a refusal that the reactor ignores goes to the log, and is no transaction")
    func ignored() throws {
        let tree = Tree(Plant(), epoch: 1)
        #expect(try send(.quietly(0), to: tree) == "applied 1")
        #expect(tree.revision.sequence == 1)
        #expect(
            tree.turn.complaints == [
                "/foreman: its follower to /foreman/machine is refused: too_low: start above 0"
            ])
    }

    @Test("a reactor that asks again after each refusal is cut like a chain of followers")
    func loop() throws {
        let tree = Tree(Plant(), epoch: 1)
        #expect(try send(.again, to: tree) == "applied 1")
        let repeats = try tree.state(of: Foreman.self, "/foreman").repeats
        // The refusal as LOOP is a refusal as well.
        #expect(repeats == 2 + CoreLimits.followerDepthMax)
        #expect(tree.turn.complaints.count == 2)
        #expect(tree.turn.complaints[0].hasPrefix("LOOP: the chain of followers from client 103"))
        #expect(
            tree.turn.complaints[1].hasPrefix("LOOP: 1 followers that were dispatched in reply"))
    }

    @Test("each follower of a chain that is cut is refused as LOOP, at the reactor that asked")
    func cut() throws {
        let tree = Tree(Plant(), epoch: 1)
        let count = CoreLimits.followersMax + 3
        #expect(try send(.many(count), to: tree) == "applied 1")
        #expect(
            try tree.state(of: Machine.self, "/foreman/machine").starts.count
                == CoreLimits.followersMax)
        #expect(
            try refusals(tree)
                == Array(repeating: "/foreman/machine LOOP start for 3", count: 3))
        #expect(tree.turn.complaints.count == 1)
        #expect(tree.turn.complaints[0].contains("3 are not run; followerDepthMax is 64"))
        #expect(tree.turn.failures.map(\.code) == ["LOOP"])
        // The next action begins a new chain.
        #expect(try send(.below(5_000), to: tree).hasPrefix("applied"))
        #expect(try tree.state(of: Machine.self, "/foreman/machine").starts.last == 5_000)
    }

    @Test("each part left out of a reaction reaches its reactor, in a separate transaction")
    func reaction() throws {
        let tree = Tree(Yard(), epoch: 1)
        #expect(try tree.send(Machine.Action.start(1), to: "/source") == "applied 1")
        #expect(
            try tree.state(of: Yard.self).refusals == [
                "/gate too_low start", "/machines/none NOT_FOUND -", "/machines/a CONFLICT -",
            ])
        #expect(try tree.state(of: Machine.self, "/machines/a").starts == [3])
        #expect(tree.turn.complaints.isEmpty && tree.revision.sequence == 4)
        #expect(try tree.state(of: Yard.self).heard == 1)
    }

    @Test("the reactor may answer the action that waits for the follower")
    func answered() throws {
        let tree = Tree(Plant(), epoch: 1)
        #expect(try send(.wait(0), to: tree) == "deferred 1")
        #expect(tree.turn.complaints.isEmpty)
        let answers = try tree.turn.takeResolutions().map { try $0.text }
        #expect(answers == ["103/6: too_low start above 0"])
    }

    @Test("an action that is not an enum has no name")
    func names() {
        func name(_ action: some WireCodable) -> String? {
            FollowerRefusal(
                path: .root, rejection: Rejection("no", ""), action: WireEmbedded(action)
            ).actionName
        }
        #expect(name(Tally.Action.add(1)) == "add" && name(Tally.Action.nothing) == "nothing")
        #expect(name(7) == nil && name(["a": 1, "b": 2]) == nil)
    }
}
