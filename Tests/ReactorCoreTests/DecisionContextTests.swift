import Testing

@testable import ReactorCore

/// A child that uses the context of each of its hooks.
@Reactor
private struct Sprinkler {
    enum Action: Equatable, Sendable {
        case spray
        case leak
        case water(litres: Int)
        case stop
    }
    enum Mutation: Equatable, Sendable {
        case began(key: Int?, milliseconds: Int64, connection: UInt64)
        case watered(String)
    }
    struct State: Equatable, Sendable { var notes: [String] = [] }
    enum Reply: Equatable, Sendable { case text(String) }

    var sagas: [Saga<Self>] {
        [
            Saga { saga in
                _ = try await saga.take(where: { $0 == .stop })
                throw Broken()
            }
        ]
    }

    func start(state: State, context: ReactorContext<Self>) -> Mutations<Mutation> {
        context.dispatch(.heard("start"), toNearest: Garden.self)
        context.reply(.text("not the client's"))
        return [
            .began(
                key: context.key(), milliseconds: context.now.milliseconds,
                connection: context.caller.connection)
        ]
    }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .spray: Mutations(async: Effect { _ in throw Broken() })
        case .leak: Mutations(async: Effect { _ in throw EffectExpired(deadline: .zero) })
        case .water(let litres): Mutations.none.undertaking("water", litres)
        case .stop: .none
        }
    }

    func error(
        _ error: any Error, action: Action?, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        guard error is Broken else { return .none }
        let cause = action.map { "\($0)" } ?? "a saga"
        context.dispatch(
            .heard("\(context.path) \(cause) \(context.caller.isDaemon)"), toNearest: Garden.self)
        return .none
    }

    func perform(
        _ task: DurableTask, state: State, context: ReactorContext<Self>
    ) -> Effect<Mutation> {
        context.dispatch(.stop)
        let key = context.key(as: Int.self) ?? 0
        return Effect { emit in
            let litres = try task.payload.decode(as: Int.self)
            emit.last(.watered("\(litres) litres at \(key)"))
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .began(let key, let time, let connection):
            state.notes.append("\(key ?? -1) at \(time) for \(connection)")
        case .watered(let text): state.notes.append(text)
        }
    }
}

@Reactor
private struct Garden {
    @Children var sprinklers = { (_: Int) in Sprinkler() }
    @Child var pump = Pump()

    enum Action: Equatable, Sendable {
        case plant(Int)
        @WireInternal case heard(String)
    }
    enum Mutation: Equatable, Sendable { case noted(String) }
    struct State: Equatable, Sendable { var notes: [String] = [] }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .plant(let key): Mutations.none.creating($sprinklers, key)
        case .heard(let text): [.noted(text)]
        }
    }

    func childFailed(
        _ failure: ChildFailure, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        let key = failure.key(in: $sprinklers) ?? 0
        context.dispatch(.heard("failed: \(key) of \(context.keys(of: $sprinklers))"))
        return .none
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .noted(let text): state.notes.append(text)
        }
    }
}

/// A start that requests nothing but a follower.
@Reactor
private struct Pump {
    enum Action: Equatable, Sendable { case prime }
    struct State: Equatable, Sendable { var count = 0 }

    func start(state: State, context: ReactorContext<Self>) -> Mutations<Action> {
        context.dispatch(.prime)
        return .none
    }

    func reduce(state: inout State, mutation: Action) { state.count += 1 }
}

/// A parent whose reaction has more mutations than fit a transaction.
@Reactor
private struct Flood {
    @Child var source = Machine()

    enum Action: Equatable, Sendable { case persist }
    enum Mutation: Equatable, Sendable {
        case flooded
        case refused(String)
        case persisted
    }
    struct State: Equatable, Sendable {
        var flooded = 0
        var refusals: [String] = []
        var isPersistent = false
    }

    private static var tooMany: Mutations<Mutation> {
        Mutations(sync: Array(repeating: .flooded, count: CoreLimits.mutationsMax + 1))
    }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> { [.persisted] }

    @Reacts(to: \Flood.$source)
    func changed(_ mutation: Machine.Mutation) -> Mutations<Mutation> { Self.tooMany }

    func followerRejected(
        _ refusal: FollowerRefusal, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        if state.isPersistent { return Self.tooMany }
        return [.refused("\(refusal.path) \(refusal.rejection.code) \(refusal.actionName ?? "-")")]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .flooded: state.flooded += 1
        case .refused(let text): state.refusals.append(text)
        case .persisted: state.isPersistent = true
        }
    }
}

@Suite("Contexts of decisions")
struct DecisionContextTests {
    private func bench() throws -> StoreBench<Garden> {
        let bench = StoreBench(Garden())
        bench.advance(by: .seconds(2))
        try bench.send(.plant(7))
        return bench
    }

    private func notes(_ bench: StoreBench<Garden>) throws -> [String] {
        try bench.store.core.tree.state(of: Sprinkler.self, "/sprinklers/7").notes
    }

    @Test("a start reads its key, the time and the caller, and dispatches a follower")
    func start() throws {
        let bench = try bench()
        #expect(try notes(bench) == ["7 at 2000 for 0"])
        #expect(bench.state.notes == ["start"])
        let tree = Tree(Garden(), epoch: 1)
        tree.open()
        #expect(try tree.send(Garden.Action.plant(7), from: 3).hasPrefix("applied"))
        #expect(
            try tree.state(of: Sprinkler.self, "/sprinklers/7").notes.first?.hasSuffix("for 3")
                ?? false)
    }

    @Test("a start that only dispatches a follower is carried out when the tree is opened")
    func startOfTree() throws {
        let bench = StoreBench(Garden())
        #expect(try bench.store.core.tree.state(of: Pump.self, "/pump").count == 1)
    }

    @Test("an error that only dispatches a follower is handled, and the parent is not asked")
    func error() throws {
        let bench = try bench()
        bench.send(Sprinkler.Action.spray, to: "/sprinklers/7")
        #expect(bench.state.notes == ["start", "/sprinklers/7 spray true"])
    }

    @Test("an error that a child ignores reaches its parent, which reads its children")
    func childFailed() throws {
        let bench = try bench()
        bench.send(Sprinkler.Action.leak, to: "/sprinklers/7")
        #expect(bench.state.notes == ["start", "failed: 7 of [7]"])
    }

    @Test("the failure of a saga goes to the error with a context, where no other is written")
    func sagaFailed() throws {
        let bench = try bench()
        bench.send(Sprinkler.Action.stop, to: "/sprinklers/7")
        #expect(bench.state.notes == ["start", "/sprinklers/7 a saga true"])
    }

    @Test("a durable task is performed with the reactor's key; what it requests is dropped")
    func perform() throws {
        let bench = try bench()
        bench.send(Sprinkler.Action.water(litres: 9), to: "/sprinklers/7")
        #expect(try notes(bench) == ["7 at 2000 for 0", "9 litres at 7"])
        #expect(
            bench.complaints == [
                "/sprinklers/7: dropped what perform requested by its context for task water: "
                    + "request it in mutate"
            ])
        #expect(bench.state.notes == ["start"])
    }

    @Test("a decision that exceeds a limit is left out, and its reactor decides what follows")
    func tooLarge() throws {
        let tree = Tree(Flood(), epoch: 1)
        #expect(try tree.send(Machine.Action.start(1), to: "/source") == "applied 1")
        let state = try tree.state(of: Flood.self)
        #expect(state.flooded == 0 && state.refusals == ["/ TOO_LARGE -"])
        #expect(tree.turn.complaints.isEmpty && tree.revision.sequence == 2)
    }

    @Test("a reactor whose decision about that exceeds a limit as well is not asked again")
    func tooLargeAgain() throws {
        let tree = Tree(Flood(), epoch: 1)
        #expect(try tree.send(Flood.Action.persist) == "applied 1")
        #expect(try tree.send(Machine.Action.start(1), to: "/source") == "applied 2")
        #expect(try tree.state(of: Flood.self).flooded == 0)
        #expect(tree.turn.complaints.count == 1)
        #expect(tree.turn.complaints.first?.hasPrefix("/: TOO_LARGE: 4097 mutations") ?? false)
    }
}
