import Testing

@testable import ReactorCore

/// Records the failures of its sagas.
@Reactor
private struct Watcher {
    enum Action: Equatable, Sendable {
        case check
        case seen(Int)
    }
    enum Mutation: Equatable, Sendable {
        case seen(Int)
        case failed(String)
    }
    struct State: Equatable, Sendable {
        var seen: [Int] = []
        var failures: [String] = []
    }

    var sagas: [Saga<Watcher>] = []

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        if case .seen(let number) = action { [.seen(number)] } else { .none }
    }

    func sagaFailed(_ failure: SagaFailure, state: State) -> Mutations<Mutation> {
        let pause = failure.restartsAfter.map { "\($0)" } ?? "for good"
        return [.failed("\(failure.name) \(failure.attempt) \(failure.error) \(pause)")]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .seen(let number): state.seen.append(number)
        case .failed(let text): state.failures.append(text)
        }
    }
}

/// A reactor below another that says nothing about its failures.
@Reactor
private struct Silent {
    enum Action: Equatable, Sendable { case fail }
    struct State: Equatable, Sendable { var count = 0 }

    var sagas: [Saga<Silent>] {
        [
            Saga("silent", restart: .backoff(first: .seconds(1), giveUpAfter: 2)) { saga in
                _ = try await saga.take()
                throw Broken()
            }
        ]
    }

    func reduce(state: inout State, mutation: Action) { state.count += 1 }
}

@Reactor
private struct Guardian {
    @Child var silent = Silent()
    @Children var keyed = { (_: WireKey) in Silent() }

    enum Action: Equatable, Sendable {
        case open
        case close
    }
    enum Mutation: Equatable, Sendable {
        case changed
        case failed(String)
    }
    struct State: Equatable, Sendable { var failures: [String] = [] }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .open: Mutations(.changed).creating($keyed, "a")
        case .close: Mutations(.changed).removing($keyed, "a")
        }
    }

    func childFailed(_ failure: ChildFailure, state: State) -> Mutations<Mutation> {
        [.failed("\(failure.error)")]
    }

    func reduce(state: inout State, mutation: Mutation) {
        if case .failed(let text) = mutation { state.failures.append(text) }
    }
}

/// Drives ``SagaRun``, ``RestartRecord`` and ``SagaRunner``.
@Suite("Supervision of sagas")
struct SagaRunTests {
    /// A reactor with a saga that shows the number of its run, and fails at the next `check`.
    private func watch(_ restart: SagaRestart) -> StoreBench<Watcher> {
        let runs = Tick()
        let bench = StoreBench(
            Watcher(sagas: [
                Saga("watch", restart: restart) { saga in
                    runs.up()
                    try await saga.put(.seen(runs.count))
                    _ = try await saga.take(where: { $0 == .check })
                    throw Broken()
                }
            ]))
        bench.settle()
        return bench
    }

    private func counts(_ bench: StoreBench<Watcher>) -> SagaCounts {
        bench.store.core.tree.sagaCounts
    }

    @Test("a failed saga starts again after its pause, by the tree's clock")
    func restarts() throws {
        let bench = watch(.backoff(first: .seconds(1), factor: 3, most: .seconds(5)))
        #expect(bench.state.seen == [1])
        try bench.send(.check)
        bench.advance(by: .milliseconds(999))
        #expect(bench.state.seen == [1] && counts(bench) == SagaCounts())
        bench.advance(by: .milliseconds(1))
        #expect(bench.state.seen == [1, 2] && counts(bench).restarts == 1)
        for pause in [3, 5, 5] {
            try bench.send(.check)
            bench.advance(by: .seconds(pause) - .milliseconds(1))
            let before = bench.state.seen.count
            bench.advance(by: .milliseconds(1))
            #expect(bench.state.seen.count == before + 1)
        }
        #expect(
            bench.state.failures == [
                "watch 1 broken 1.0 seconds", "watch 2 broken 3.0 seconds",
                "watch 3 broken 5.0 seconds", "watch 4 broken 5.0 seconds",
            ])
        #expect(
            bench.complaints.first
                == "/: saga \"watch\" failed (attempt 1): broken; it starts again after 1.0 seconds"
        )
        #expect(bench.complaints.count == 4)
        #expect(counts(bench).restarts == 4 && counts(bench).givenUp == 0)
        #expect(SagaRunner.of(bench.store.core.tree).runtime.sagaCount == 1)
    }

    @Test("a saga that failed too often within its time ends for good, and is counted")
    func givesUp() throws {
        let bench = watch(
            .backoff(first: .seconds(1), factor: 1, giveUpAfter: 3, within: .seconds(10)))
        // Two failures, then a time in which they are forgotten, then three in a row.
        for pause in [1, 20, 1, 1] {
            try bench.send(.check)
            bench.advance(by: .seconds(pause))
        }
        #expect(bench.state.seen == [1, 2, 3, 4, 5])
        try bench.send(.check)
        bench.advance(by: .seconds(1_000))
        #expect(bench.state.seen == [1, 2, 3, 4, 5])
        #expect(bench.state.failures.last == "watch 3 broken for good")
        #expect(
            bench.complaints.last
                == "/: saga \"watch\" failed (attempt 3): broken; it does not start again: "
                + "3 failures within 10.0 seconds")
        #expect(counts(bench).restarts == 4 && counts(bench).givenUp == 1)
        let tree = bench.store.core.tree
        #expect(tree.effects.running.isEmpty && tree.effects.orphans.isEmpty)
        #expect(!bench.store.node.takesLongWay)
    }

    @Test("a saga without a policy does not start again, and its failure is logged")
    func never() throws {
        let bench = watch(.never)
        try bench.send(.check)
        bench.advance(by: .seconds(1_000))
        #expect(bench.state.seen == [1] && bench.state.failures == ["watch 1 broken for good"])
        #expect(
            bench.complaints == [
                "/: saga \"watch\" failed (attempt 1): broken; it does not start again"
            ])
        #expect(counts(bench) == SagaCounts())
    }

    @Test("a saga that returns or is cancelled does not start again")
    func ends() throws {
        let runs = Tick()
        let bench = StoreBench(
            Watcher(sagas: [
                Saga("once", restart: .backoff()) { _ in runs.up() },
                Saga("cancelled", restart: .backoff()) { _ in
                    runs.up()
                    throw CancellationError()
                },
            ]))
        bench.advance(by: .seconds(1_000))
        #expect(runs.count == 2 && bench.state.failures == [] && bench.complaints == [])
        #expect(bench.store.core.tree.effects.running.isEmpty)
    }

    @Test("without sagaFailed, the reactor's error gets each failure")
    func isTold() throws {
        let bench = StoreBench(
            Tracker(sagas: [
                Saga("watch", restart: .backoff(first: .zero)) { saga in
                    _ = try await saga.take(Tracker.text)
                    throw Broken()
                }
            ]))
        bench.settle()
        for text in ["a", "b"] {
            try bench.send(.search(text))
            bench.advance(by: .seconds(1))
        }
        #expect(bench.state.failures == ["broken", "broken"])
        #expect(bench.store.core.tree.sagaCounts.restarts == 2)
    }

    @Test("a parent gets a saga's failure only if the saga does not start again")
    func parent() throws {
        let bench = StoreBench(Guardian())
        bench.settle()
        bench.send(Silent.Action.fail, to: "/silent")
        #expect(bench.state.failures == [])
        bench.advance(by: .seconds(1))
        bench.send(Silent.Action.fail, to: "/silent")
        #expect(bench.state.failures == ["broken"])
        #expect(bench.store.core.tree.sagaCounts.givenUp == 1)
    }

    @Test("the removal of a reactor ends the restart of its saga")
    func removed() throws {
        let bench = StoreBench(Guardian())
        try bench.send(.open)
        bench.send(Silent.Action.fail, to: "/keyed/a")
        #expect(bench.clock.sleeperCount == 1)
        try bench.send(.close)
        bench.advance(by: .seconds(100))
        let tree = bench.store.core.tree
        #expect(tree.sagaCounts == SagaCounts())
        // The other child's saga runs.
        #expect(tree.effects.running.count == 1 && tree.effects.orphans.isEmpty)
        #expect(SagaRunner.of(tree).runtime.sagaCount == 1 && bench.clock.sleeperCount == 0)
    }

    @Test("the removal of a reactor ends a restart that waits for room")
    func removedInQueue() throws {
        let bench = StoreBench(Guardian())
        try bench.send(.open)
        let tree = bench.store.core.tree
        bench.send(Silent.Action.fail, to: "/keyed/a")
        tree.effectsMax = 1
        bench.advance(by: .seconds(1))
        #expect(tree.effects.waiting.count == 1 && tree.sagaCounts.restarts == 1)
        try bench.send(.close)
        #expect(tree.effects.waiting.isEmpty && tree.effects.running.count == 1)
        #expect(SagaRunner.of(tree).runtime.sagaCount == 1)
    }

    @Test("the saga of a removed reactor no longer waits for room among the sagas")
    func removedBeforeStart() throws {
        let bench = StoreBench(Office())
        let tree = bench.store.core.tree
        let runtime = SagaRunner.of(tree).runtime
        var entered = 0
        while runtime.hasRoom(for: 1) {
            _ = runtime.enter()
            entered += 1
        }
        for _ in 0..<100 { try bench.send(.open("a"), .close("a")) }
        #expect(tree.effects.waitingSagas.isEmpty && tree.effects.waitingSagas.keptCount <= 65)
        #expect(tree.effects.running.isEmpty)
        try bench.send(.open("b"))
        #expect(tree.effects.waitingSagas.count == 1)
        for _ in 0..<entered { runtime.leave() }
        bench.settle()
        bench.send(Tracker.Action.search("ada"), to: "/rooms/b")
        #expect(try tree.state(of: Tracker.self, "/rooms/b").runs == ["hello ada"])
    }

    @Test("a restart waits for room among the effects, and is not dropped")
    func room() throws {
        let bench = watch(.backoff(first: .seconds(1)))
        let tree = bench.store.core.tree
        let handle = bench.run { saga in _ = try await saga.take(where: { $0 == .seen(9) }) }
        try bench.send(.check)
        tree.effectsMax = 1
        bench.advance(by: .seconds(10))
        #expect(bench.state.seen == [1])
        handle.cancel()
        bench.advance(by: .seconds(10))
        #expect(bench.state.seen == [1, 2])
    }

    @Test("a refused put in a handler's run is logged with the saga's name, and ends that run only")
    func refusedRun() throws {
        let bench = StoreBench(
            Tracker(sagas: [
                Saga("asker", restart: .backoff()) { saga in
                    saga.takeEvery(Tracker.amount) { saga, amount in
                        try await saga.put(amount == 1 ? .refuse : .run("\(amount)"))
                    }
                }
            ]))
        bench.settle()
        try bench.send(.add(1), .add(2), .add(1), .add(3))
        #expect(bench.state.runs == ["2", "3"] && bench.state.failures.count == 2)
        #expect(bench.complaints.count == 2)
        #expect(
            bench.complaints.first?.hasPrefix("/: a run of a handler of saga \"asker\" failed: ")
                ?? false)
        #expect(bench.store.core.tree.sagaCounts == SagaCounts())
    }

    @Test("pauses grow up to the longest, and begin again after a long run")
    func pauses() {
        var record = RestartRecord()
        let restart = SagaRestart.backoff(
            first: .seconds(1), factor: 2, most: .seconds(5), within: .seconds(60))
        let pauses = [0, 0, 59, 0, 60, 0].map { span in
            record.countFailure(at: .zero, after: .seconds(span), restart)
        }
        #expect(pauses == [1, 2, 4, 5, 1, 2].map { .seconds($0) })
        #expect(record.attempt == 2)
    }

    @Test("a first pause of zero grows, so that a saga which always fails occupies no processor")
    func zero() {
        var record = RestartRecord()
        let restart = SagaRestart.backoff(first: .zero, factor: 2, most: .milliseconds(3))
        let pauses = (0..<4).map { _ in record.countFailure(at: .zero, after: .zero, restart) }
        #expect(pauses == [0, 1, 2, 3].map { .milliseconds($0) })
    }
}
