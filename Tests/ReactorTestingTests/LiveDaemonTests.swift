import FoundationEssentials
import ReactorClient
import ReactorCore
import ReactorTesting
import ReactorThreads
import Testing

@Suite("A daemon behind a socket", .timeLimit(.minutes(10)))
struct LiveDaemonTests {
    @Test("ordinary clients are served, and reconnect after their connections were cut")
    func served() async throws {
        let daemon = try LiveDaemon(Counter())
        let client = try await Client.connect(to: daemon.path)
        let mirror = try await client.mirror(Counter.self, at: "/")
        _ = await mirror.dispatch(.increment(by: 2))
        #expect(mirror.state.count == 2)
        daemon.cut()
        let outcome = await mirror.dispatch(.increment(by: 3))
        #expect(outcome.revision?.sequence == 2)
        #expect(mirror.state.count == 5)
        client.close()
    }

    @Test("a daemon continues the history of another that has stopped and is still in memory")
    func directory() async throws {
        let folder = "/tmp/live-history-\(UInt64.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = try LiveDaemon(Counter(), keeping: folder)
        let client = try await Client.connect(to: first.path)
        _ = try await client.dispatch("/", Counter.Action.increment(by: 2)).get()
        first.stop()
        let second = try LiveDaemon(Counter(), keeping: folder)
        let other = try await Client.connect(to: second.path)
        #expect(try await other.mirror(Counter.self, at: "/").state.count == 2)
        client.close()
        other.close()
        withExtendedLifetime(first) {}
    }

    @Test("a live daemon ends with its last reference, and removes its socket")
    func end() async throws {
        var daemon: LiveDaemon? = try LiveDaemon(Counter())
        let path = try #require(daemon?.path)
        daemon = nil
        await #expect(throws: ClientError.self) { _ = try await Client.connect(to: path) }
    }
}

/// A daemon, a client of it, and its author's handle.
private struct Running {
    let daemon: LiveDaemon
    let client: Client
    let mirror: Mirror<Counter>
    let handle: ReactorHandle<Counter>

    init(whenOpen: (LiveReactor<Counter>) -> Void = { _ in }) async throws {
        var handle: ReactorHandle<Counter>?
        daemon = try LiveDaemon(Counter()) { tree in
            let counter = try tree.reactor(Counter.self)
            whenOpen(counter)
            handle = counter.handle
        }
        self.handle = try #require(handle)
        client = try await Client.connect(to: daemon.path)
        mirror = try await client.mirror(Counter.self, at: "/")
    }

    /// Waits until the mirror shows `count`.
    func shows(_ count: Int) async {
        for await state in mirror.states() where state.count == count { return }
    }
}

@Suite("A running daemon and its author", .timeLimit(.minutes(10)))
struct RunningDaemonTests {
    @Test("F28: middleware is added to and removed from a running daemon")
    func middleware() async throws {
        let running = try await Running()
        let seen = Guarded<[String]>([])
        var token: ReactorToken? = running.handle.addMiddleware(
            Middleware { state, action, dispatch in
                seen.withLock { $0.append("\(action) at \(state().count)") }
                if action == .increment(by: 1) { dispatch(.increment(by: 10)) }
            })
        // `perform` is queued behind the addition, so the middleware is in place afterwards.
        try await running.handle.perform(.ask)
        let outcome = await running.mirror.dispatch(.increment(by: 1))
        #expect(outcome.revision?.sequence == 2)
        #expect(running.mirror.state.history == [1, 10])
        #expect(
            seen.withLock { $0 } == [
                "ask at 0", "increment(by: 1) at 1", "increment(by: 10) at 11",
            ])
        #expect(token != nil)
        token = nil
        try await running.handle.perform(.ask)
        _ = await running.mirror.dispatch(.increment(by: 1))
        #expect(running.mirror.state.history == [1, 10, 1])
        #expect(seen.withLock { $0.count } == 3)
    }

    @Test("F28: middleware added in whenOpen is in place for the first client")
    func whenOpen() async throws {
        let seen = Guarded<[String]>([])
        let running = try await Running { counter in
            counter.addMiddleware(
                Middleware { _, action, _ in seen.withLock { $0.append("\(action)") } }
            ).keep()
            counter.addTap(
                NodeTap(mutation: { mutation, _ in seen.withLock { $0.append("\(mutation)") } })
            ).keep()
            counter.send(.increment(by: 3))
        }
        #expect(running.mirror.state.count == 3)
        _ = await running.mirror.dispatch(.increment(by: 1))
        // Taps are called after the outcome.
        try await running.handle.perform(.ask)
        #expect(
            seen.withLock { $0 } == [
                "increment(by: 3)", "added(3)", "increment(by: 1)", "added(1)", "ask",
            ])
    }

    @Test("F17: a mutation is injected into a running daemon, and mirrors show it")
    func inject() async throws {
        let running = try await Running()
        let other = try await Client.connect(to: running.daemon.path)
        let shown = try await other.mirror(Counter.self, at: "/")
        running.handle.inject(.added(-7))
        await running.shows(-7)
        for await state in shown.states() where state.count == -7 { break }
        #expect(shown.state.history == [-7])
        #expect(try await other.get("/count").value == .integer(-7))
        other.close()
    }

    @Test("F25: a source connected in a running daemon delivers until its token is released")
    func connect() async throws {
        let (first, orders) = AsyncStream.makeStream(of: Counter.Action.self)
        let running = try await Running { $0.connect(first).keep() }
        orders.yield(.increment(by: 4))
        orders.yield(.decrement(by: 9))
        orders.yield(.increment(by: 1))
        await running.shows(5)
        let (second, others) = AsyncStream.makeStream(of: Counter.Action.self)
        var token: ReactorToken? = running.handle.connect(second)
        others.yield(.increment(by: 10))
        await running.shows(15)
        #expect(token != nil)
        token = nil
        others.yield(.increment(by: 100))
        orders.yield(.increment(by: 1))
        await running.shows(16)
        #expect(running.mirror.state.history == [4, 1, 10, 1])
    }

    @Test("the counters of a running daemon include the restarts of its failed sagas")
    func restarts() async throws {
        let daemon = try LiveDaemon(Restarting())
        let client = try await Client.connect(to: daemon.path)
        let mirror = try await client.mirror(Restarting.self, at: "/")
        for await state in mirror.states() where state.runs == 3 { break }
        let counters = try await client.stats()
        #expect(counters["sagaRestarts"] == 2 && counters["sagasGivenUp"] == 0)
        client.close()
    }

    @Test("the counters of a running daemon include the sagas that do not start again")
    func givenUp() async throws {
        let daemon = try LiveDaemon(Hopeless())
        let client = try await Client.connect(to: daemon.path)
        let mirror = try await client.mirror(Hopeless.self, at: "/")
        for await state in mirror.states() where state.failures == 3 { break }
        // The daemon counts after the transaction of the failure.
        while try await client.stats()["sagasGivenUp"] != 1 { await Task.yield() }
        #expect(try await client.stats()["sagaRestarts"] == 2)
        client.close()
    }

    @Test("a saga started in whenOpen receives clients' actions, and clients see its puts")
    func saga() async throws {
        let running = try await Running { counter in
            counter.runSaga { saga in
                let amount = try await saga.take { action -> Int? in
                    if case .increment(let amount) = action { amount } else { nil }
                }
                try await saga.put(.increment(by: 100 * amount))
            }
        }
        _ = await running.mirror.dispatch(.increment(by: 2))
        await running.shows(202)
    }

    @Test("a daemon whose author requests a missing reactor does not start")
    func refused() {
        #expect(throws: Rejection.self) {
            try LiveDaemon(Counter()) { _ = try $0.reactor(Search.self) }
        }
    }
}

/// A reactor whose saga fails in its first two runs, and then waits.
@Reactor
struct Restarting {
    enum Action: Equatable { case ran }
    struct State: Equatable { var runs = 0 }

    var sagas: [Saga<Self>] {
        [
            Saga("restarting", restart: .backoff(first: .zero)) { saga in
                try await saga.put(.ran)
                if try await saga.select(\.runs) < 3 { throw BrokenRun() }
                _ = try await saga.take()
            }
        ]
    }

    func reduce(state: inout State, mutation: Action) { state.runs += 1 }

    struct BrokenRun: Error {}
}

/// A reactor with a saga that fails until it gives up.
@Reactor
struct Hopeless {
    enum Action: Equatable { case failed }
    struct State: Equatable { var failures = 0 }

    var sagas: [Saga<Self>] {
        [
            // On a busy machine, minutes may pass between two runs.
            Saga(
                "hopeless",
                restart: .backoff(first: .zero, giveUpAfter: 3, within: .seconds(86_400))
            ) { _ in throw Restarting.BrokenRun() }
        ]
    }

    func sagaFailed(_ failure: SagaFailure, state: State) -> Mutations<Action> { [.failed] }

    func reduce(state: inout State, mutation: Action) { state.failures += 1 }
}
