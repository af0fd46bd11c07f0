import ReactorCore
import ReactorTesting
import ReactorThreads
import Testing

@Suite("Jobs that a test runs")
struct ManualExecutorTests {
    @Test("F81: no job runs by itself, and run() runs all in order of arrival")
    func order() {
        let executor = ManualExecutor()
        let ran = Guarded<[Int]>([])
        for number in 0..<20 {
            Task(executorPreference: executor) {
                ran.withLock { $0.append(number) }
                await Task.yield()
                ran.withLock { $0.append(number + 100) }
            }
        }
        #expect(!executor.isIdle)
        #expect(ran.withLock { $0.isEmpty })
        executor.run()
        #expect(executor.isIdle)
        #expect(ran.withLock { $0 } == Array(0..<20) + Array(100..<120))
    }

    @Test(
        "F81: an effect cancelled with its store ends when the executor is released",
        .timeLimit(.minutes(10)))
    func ends() async throws {
        let (ends, end) = AsyncStream.makeStream(of: Int.self)
        func live() throws {
            let (clock, executor) = (ManualClock(), ManualExecutor())
            let store = Store(Keeper(end: end), clock: TreeClock(clock), executor: executor)
            store.runSaga { [end] saga in
                let load = Load(2, end)
                try await saga.sleep(for: .seconds(1))
                withExtendedLifetime(load) {}
            }
            try store.dispatch(.keep(1))
            store.settle(executor)
            #expect(clock.sleeperCount == 2)
        }
        try live()
        var ended: Set<Int> = []
        for await number in ends {
            ended.insert(number)
            if ended.count == 2 { break }
        }
        #expect(ended == [1, 2])
    }

    @Test("F81: an effect cancelled with its store ends at the executor's next run")
    func endsByRun() throws {
        let (_, end) = AsyncStream.makeStream(of: Int.self)
        weak var load: Load?
        let executor = ManualExecutor()
        func live() throws {
            let keeper = Keeper(end: end)
            let store = Store(keeper, clock: TreeClock(ManualClock()), executor: executor)
            try store.dispatch(.keep(1))
            store.settle(executor)
            load = keeper.last.withLock { $0.load }
            #expect(load != nil)
        }
        try live()
        #expect(load != nil)
        executor.run()
        #expect(load == nil)
    }

    @Test("F81: a store retains its executor")
    func kept() {
        let (_, end) = AsyncStream.makeStream(of: Int.self)
        weak var kept: ManualExecutor?
        func make() -> Store<Keeper> {
            let executor = ManualExecutor()
            kept = executor
            return Store(Keeper(end: end), executor: executor)
        }
        let store = make()
        #expect(kept != nil)
        withExtendedLifetime(store) {}
    }

    @Test("F81: a store's effects run on the executor, with a clock that only the test advances")
    func store() throws {
        let (clock, executor) = (ManualClock(), ManualExecutor())
        let store = Store(Search(), clock: TreeClock(clock), executor: executor)
        try store.dispatch(.type("a"))
        store.settle(executor)
        clock.advance(by: .milliseconds(299)) { store.settle(executor) }
        #expect(store.state.result == "")
        clock.advance(by: .milliseconds(1)) { store.settle(executor) }
        #expect(store.state.result == "A")
    }

    @Test("F81, R101: settling a store also runs effects that waited for room")
    func room() {
        let executor = ManualExecutor()
        let store = Store(Starter(), executor: executor, effectsMax: 1)
        store.settle(executor)
        #expect(store.state.count == 3)
    }
}

/// Starts three effects.
private struct Starter: Reactor {
    @WireCodable
    enum Action: Equatable, Sendable { case began }

    @WireCodable
    struct State: Equatable, Sendable { var count = 0 }

    var initialState: State { State() }

    func start(state: State) -> Mutations<Action> {
        (0..<3).reduce(Mutations.none) { mutations, _ in
            mutations.effect(Effect { emit in emit(.began) })
        }
    }

    func mutate(action: Action) throws(Rejection) -> Mutations<Action> { Mutations(action) }

    func reduce(state: inout State, mutation: Action) { state.count += 1 }
}

/// Reports its number when it is released.
private final class Load: Sendable {
    let number: Int
    let end: AsyncStream<Int>.Continuation

    init(_ number: Int, _ end: AsyncStream<Int>.Continuation) {
        self.number = number
        self.end = end
    }

    deinit { end.yield(number) }
}

/// A reactor whose effects sleep and retain an object.
private struct Keeper: Reactor {
    struct Last: Sendable {
        weak var load: Load?
    }

    let end: AsyncStream<Int>.Continuation
    let last = Guarded(Last())

    @WireCodable
    enum Action: Equatable, Sendable { case keep(Int) }

    @WireCodable
    struct State: Equatable, Sendable { var count = 0 }

    var initialState: State { State() }

    func mutate(action: Action) throws(Rejection) -> Mutations<Action> {
        guard case .keep(let number) = action else { return .none }
        let load = Load(number, end)
        last.withLock { $0.load = load }
        return Mutations(action).effect(
            Effect { emit in
                try await emit.clock.sleep(for: .seconds(1))
                withExtendedLifetime(load) {}
            })
    }

    func reduce(state: inout State, mutation: Action) { state.count += 1 }
}
