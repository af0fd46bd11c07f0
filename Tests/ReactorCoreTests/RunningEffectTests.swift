import Testing

@testable import ReactorCore

/// Waits, and records its end; its rules decide which action ends which effect.
struct Waiter: Reactor {
    @WireCodable
    enum Action: Equatable, Sendable {
        case wait(Int)
        case waitUntilStop(Int)
        case waitFor(seconds: Int, name: String)
        case cancel(name: String)
        case cancelLifecycle
        case stop
        case replace(Int)
        case watch
        case fail
        case failAndRefuse
        case slow
        case tick
        case ignoreCancel
    }

    @WireCodable
    enum Mutation: Equatable, Sendable {
        case done(Int)
        case failed(String)
    }

    @WireCodable
    struct State: Equatable, Sendable { var log: [String] = [] }

    struct Broken: Error, CustomStringConvertible {
        var description: String { "broken" }
    }

    var initialState = State()
    var starts: [Effect<Mutation>] = []
    var answersErrors = true

    func start(state: State) -> Mutations<Mutation> {
        starts.reduce(.none) { $0.effect($1) }
    }

    private func wait(_ number: Int, _ name: String? = nil) -> Effect<Mutation> {
        .after(.seconds(number), cancelID: name, .done(number))
    }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .wait(let number): return .none.effect(wait(number))
        case .waitUntilStop(let number):
            return .none.effect(wait(number).until { (action: Action) in action == .stop })
        case .waitFor(let number, let name): return .none.effect(wait(number, name))
        case .cancel(let name): return .none.cancelling(name)
        case .cancelLifecycle: return .none.cancellingLifecycle()
        case .stop: return .none
        case .replace(let number): return .none.effect(wait(number))
        case .watch:
            return Mutations(
                async: Effect(lifetime: .connection) { emit in
                    try await emit.clock.sleep(for: .seconds(5))
                    emit(.done(5))
                })
        case .fail: return Mutations(async: Effect { _ in throw Broken() })
        case .failAndRefuse: throw Rejection("no", "no")
        case .slow:
            return Mutations(
                async: Effect(deadline: .seconds(2)) { emit in
                    try await emit.clock.sleep(for: .seconds(60))
                    emit(.done(60))
                })
        case .tick:
            return .none.effect(.every(.seconds(1)) { .done(1) })
        case .ignoreCancel:
            return Mutations(
                async: Effect(cancelID: "deaf") { emit in
                    // A task that ignores its cancellation continues.
                    try? await emit.clock.sleep(for: .seconds(1))
                    emit(.done(1))
                })
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .done(let number): state.log.append("\(number)")
        case .failed(let text): state.log.append(text)
        }
    }

    func shouldCancel(current: Action, upcoming: Action) -> Bool {
        if case .replace = current, case .replace = upcoming { true } else { false }
    }

    func error(_ error: any Error, action: Action?, state: State) -> Mutations<Mutation> {
        guard answersErrors else { return .none }
        return [.failed("\(error) after \(action.map { "\($0)" } ?? "start")")]
    }
}

/// A reactor with effects, but without shouldCancel.
@Reactor
private struct Napper {
    enum Action: Equatable, Sendable { case sleep }
    enum Mutation: Equatable, Sendable { case woke }
    struct State: Equatable, Sendable { var wakings = 0 }

    func mutate(action: Action) -> Mutations<Mutation> {
        .none.effect(.after(.seconds(1), .woke))
    }

    func reduce(state: inout State, mutation: Mutation) { state.wakings += 1 }
}

@Suite("Running effects")
struct RunningEffectTests {
    private let bench = StoreBench(Waiter())

    @Test("F48: shouldCancel decides which running effects an action ends")
    func shouldCancel() throws {
        try bench.send(.replace(2))
        try bench.send(.wait(3))
        bench.advance(by: .seconds(1))
        try bench.send(.replace(4))
        bench.advance(by: .seconds(10))
        #expect(bench.state.log == ["3", "4"])
    }

    @Test("F48: a reactor without shouldCancel is asked once, and its actions take the short path")
    func neverCancels() throws {
        let bench = StoreBench(Napper())
        let node = try #require(bench.store.core.tree.root as? Node<Napper>)
        try bench.send(.sleep)
        #expect(node.takesLongWay)
        try bench.send(.sleep)
        #expect(!node.takesLongWay)
        #expect(node.rules == nil)
        try bench.send(.sleep)
        #expect(!node.takesLongWay)
        #expect(bench.store.core.tree.effectsUnderWay.count == 3)
    }

    @Test("F48: a refused action cancels nothing")
    func refusedCancelsNothing() throws {
        try bench.send(.replace(2))
        #expect(throws: Rejection.self) { try bench.send(.failAndRefuse) }
        bench.advance(by: .seconds(3))
        #expect(bench.state.log == ["2"])
    }

    @Test("F49: an effect's name belongs to the newest effect, whatever ended before")
    func cancelIDs() throws {
        try bench.send(.waitFor(seconds: 1, name: "a"))
        try bench.send(.waitFor(seconds: 2, name: "a"))
        try bench.send(.waitFor(seconds: 3, name: "b"))
        bench.advance(by: .seconds(1))
        try bench.send(.cancel(name: "a"))
        bench.advance(by: .seconds(5))
        #expect(bench.state.log == ["3"])
    }

    @Test("F50: lifecycle effects tick without drift, and are cancelled together")
    func lifecycle() throws {
        try bench.send(.tick)
        try bench.send(.wait(3))
        bench.advance(by: .milliseconds(2_500))
        #expect(bench.state.log == ["1", "1"])
        try bench.send(.cancelLifecycle)
        bench.advance(by: .seconds(5))
        #expect(bench.state.log == ["1", "1", "3"])
    }

    @Test("F51: an effect ends at the action that it names, not at the one that started it")
    func until() throws {
        try bench.send(.stop)
        try bench.send(.waitUntilStop(2))
        try bench.send(.wait(2))
        try bench.send(.stop)
        bench.advance(by: .seconds(3))
        #expect(bench.state.log == ["2"])
        try bench.send(.waitUntilStop(1))
        bench.advance(by: .seconds(1))
        #expect(bench.state.log == ["2", "1"])
    }

    @Test("F52: all running effects are cancelled with their store, including those of the start")
    func teardown() {
        let clock = HandClock()
        let executor = HandExecutor()
        var store: Store<Waiter>? = Store(
            Waiter(starts: [.every(.seconds(1)) { .done(1) }]), clock: TreeClock(clock),
            executor: executor)
        store?.send(.wait(5))
        _ = executor.run()
        #expect(clock.sleeperCount == 2)
        store = nil
        _ = executor.run()
        #expect(clock.sleeperCount == 0)
        #expect(store == nil)
    }

    @Test("F18: start runs once, with effects that are tracked like others")
    func start() {
        let bench = StoreBench(
            Waiter(starts: [.after(.seconds(1), .done(7)), Effect { _ in throw Waiter.Broken() }]))
        bench.settle()
        #expect(bench.state.log == ["broken after start"])
        bench.advance(by: .seconds(1))
        #expect(bench.state.log == ["broken after start", "7"])
    }

    @Test("F19: an effect's error reaches the reactor with the action that caused it")
    func errorHook() throws {
        try bench.send(.fail)
        #expect(bench.state.log == ["broken after fail"])
    }

    @Test("F19: a cancelled effect has not failed")
    func cancelIsNoError() throws {
        try bench.send(.waitFor(seconds: 2, name: "a"))
        try bench.send(.cancel(name: "a"))
        bench.advance(by: .seconds(3))
        #expect(bench.state.log == [])
        #expect(bench.complaints == [])
    }

    @Test("R101: an effect that does not end is ended by its deadline, and has failed")
    func deadline() throws {
        try bench.send(.slow)
        bench.advance(by: .milliseconds(1_999))
        #expect(bench.state.log == [])
        bench.advance(by: .milliseconds(1))
        #expect(bench.state.log == ["the effect has not ended within 2.0 seconds after slow"])
        bench.advance(by: .seconds(100))
        #expect(bench.state.log.count == 1)
    }

    @Test("R101: effects that ignore their cancellation count until they end, and are bounded")
    func orphans() throws {
        let tree = bench.store.core.tree
        tree.effectsMax = 10
        // Without a run of the executor in between, none of the cancelled effects ends.
        for _ in 0..<10 { try bench.store.dispatch(.ignoreCancel) }
        #expect(throws: Rejection.self) { try bench.store.dispatch(.ignoreCancel) }
        #expect(tree.effects.running.count == 1 && tree.effects.orphans.count == 9)
        bench.settle()
        bench.advance(by: .seconds(2))
        #expect(tree.effects.orphans.isEmpty)
        #expect(tree.effects.running.isEmpty)
    }

    @Test("R103: either an effect's result or its cancellation takes effect, not both")
    func race() throws {
        try bench.send(.waitFor(seconds: 1, name: "a"))
        // The result is on its way, and the cancellation comes before the result is applied.
        bench.clock.set(bench.clock.now.advanced(by: .seconds(1)))
        _ = bench.executor.run()
        try bench.store.dispatch(.cancel(name: "a"))
        bench.settle()
        #expect(bench.state.log == [])
        #expect(bench.store.core.tree.lateEmissions == 1)
        // In the other order, the cancellation finds no effect.
        try bench.send(.waitFor(seconds: 1, name: "a"))
        bench.advance(by: .seconds(1))
        try bench.send(.cancel(name: "a"))
        #expect(bench.state.log == ["1"])
    }

    @Test("F50: an effect bound to a connection ends with the connection")
    func connectionLifetime() throws {
        let world = ManualWorld()
        let tree = Tree(Waiter(), epoch: 1, environment: world.environment)
        try tree.send(Waiter.Action.watch, from: 1)
        try tree.send(Waiter.Action.watch, from: 2)
        tree.start(tree.turn.takeEffects())
        #expect(tree.effects.running.count == 2)
        tree.endConnection(1)
        #expect(tree.effects.running.count == 1)
        #expect(world.cancelled == [1])
    }

    @Test("an effect of a refused batch was never requested")
    func rolledBack() throws {
        let tree = Tree(Waiter(), epoch: 1)
        let actions: [(path: String, action: any WireCodable)] = [
            ("/", Waiter.Action.wait(1)), ("/", Waiter.Action.failAndRefuse),
        ]
        #expect(try tree.sendTogether(actions) == "rejected no")
        #expect(tree.effects.running.isEmpty)
        #expect(tree.turn.effects.isEmpty)
    }
}
