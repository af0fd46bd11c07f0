import ReactorClient
import ReactorCore
import ReactorTesting
import Testing

/// Notes that exist while a client leases them.
@Reactor
private struct Board {
    @Children(.leased) var notes = { (_: WireKey) in Counter() }

    enum Action: Equatable, Sendable { case wipe }
    enum Mutation: Equatable, Sendable { case wiped }
    struct State: Equatable, Sendable { var wipes = 0 }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> { [.wiped] }

    func reduce(state: inout State, mutation: Mutation) { state.wipes += 1 }
}

@Suite("A client in memory")
struct TestClientTests {
    @Test("a mirror sends an action, which is applied when the daemon has settled")
    func send() throws {
        let daemon = TestDaemon(Counter())
        let mirror = try daemon.connect().mirror(Counter.self)
        #expect(mirror.send(.increment(by: 2)))
        #expect(mirror.send(.decrement(by: 5)))
        #expect(mirror.send(.increment(by: 3), isPreviewed: true))
        #expect(mirror.state.count == 3)
        #expect(daemon.state(of: Counter.self)?.count == 0)
        daemon.settle()
        #expect(mirror.state.count == 5)
        #expect(daemon.state(of: Counter.self)?.history == [2, 3])
    }

    @Test("a binding of a mirror writes through to the daemon")
    func binding() throws {
        let daemon = TestDaemon(Counter())
        let mirror = try daemon.connect().mirror(Counter.self)
        let count = mirror.binding(\.count) { .increment(by: $0) }
        count.wrappedValue = 4
        daemon.settle()
        #expect(count.wrappedValue == 4)
    }

    @Test("an action whose reply is deferred is reported as such, and perform receives the reply")
    func deferred() throws {
        let daemon = TestDaemon(Workshop())
        let client = daemon.connect()
        let mirror = try client.mirror(Workshop.self)
        func isDeferred(_ error: ClientError?) -> Bool {
            guard case .unanswered(let text)? = error else { return false }
            return text.contains("at / has the action and defers its reply")
        }
        #expect(
            isDeferred(
                #expect(throws: ClientError.self) {
                    try client.dispatch(Workshop.Action.awaitNext)
                }))
        #expect(
            isDeferred(
                #expect(throws: ClientError.self) {
                    try client.dispatch(.awaitNext, to: mirror)
                }))
        #expect(daemon.state(of: Workshop.self)?.tickets.count == 2)
        var outcomes: [ActionOutcome] = []
        try client.perform(Workshop.Action.awaitNext) { outcomes.append($0) }
        #expect(outcomes.isEmpty)
        _ = try daemon.connect().dispatch(Workshop.Action.open)
        guard case .applied(_, let reply?)? = outcomes.first else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(try reply.decode(as: Int.self) == 1 && outcomes.count == 1)
    }

    @Test("run executes code that waits for an outcome, and returns the outcome")
    func run() throws {
        let daemon = TestDaemon(Counter())
        let mirror = try daemon.connect().mirror(Counter.self)
        let outcome = try daemon.run { await mirror.dispatch(.increment(by: 2)) }
        #expect(outcome.revision?.sequence == 1)
        guard case .applied(_, let reply) = try daemon.run({ await mirror.dispatch(.ask) }) else {
            Issue.record("the counter was not asked")
            return
        }
        #expect(reply == .count(2))
        #expect(throws: Rejection("no", "as asked")) {
            try daemon.run { throw Rejection("no", "as asked") }
        }
    }

    @Test("run gives waiting code the stated time, and then cancels it")
    func time() throws {
        let daemon = TestDaemon(Counter())
        let mirror = try daemon.connect().mirror(Counter.self)
        let clock = daemon.clock
        let wait: @Sendable () async throws -> Int = {
            try await clock.sleep(for: .seconds(2))
            return mirror.count
        }
        #expect(throws: StillWaiting.self) {
            try daemon.run(for: .seconds(1), wait)
        }
        #expect(clock.sleeperCount == 0)
        #expect(try daemon.run(for: .seconds(2), wait) == 0)
        #expect(clock.now.offset == .seconds(3))
    }

    @Test("a saga over a mirror waits on the daemon's clock")
    func saga() throws {
        let daemon = TestDaemon(Counter())
        let mirror = try daemon.connect().mirror(Counter.self)
        let other = daemon.connect()
        let saga = try daemon.run {
            try await mirror.runSaga { saga -> Int in
                let amount = try await saga.mutations.take { mutation -> Int? in
                    if case .added(let amount) = mutation { amount } else { nil }
                }
                try await saga.sleep(for: .seconds(1))
                try await saga.put(.increment(by: 10 * amount))
                return try await saga.select(\.count)
            }
        }
        _ = try other.dispatch(Counter.Action.increment(by: 3))
        daemon.advance(by: .milliseconds(999))
        #expect(mirror.state.count == 3 && saga.isRunning)
        daemon.advance(by: .milliseconds(1))
        #expect(mirror.state.count == 33 && !saga.isRunning)
        #expect(try daemon.run { try await saga.value } == 33)
    }

    @Test("a saga over a mirror receives its client's actions")
    func sagaHears() throws {
        let daemon = TestDaemon(Counter())
        let client = daemon.connect()
        let mirror = try client.mirror(Counter.self)
        let saga = try daemon.run {
            try await mirror.runSaga { try await $0.take { $0 == .ask ? "asked" : nil } }
        }
        _ = try client.dispatch(.increment(by: 1), to: mirror)
        #expect(saga.isRunning)
        _ = try client.dispatch(.ask, to: mirror)
        #expect(try daemon.run { try await saga.value } == "asked")
    }

    @Test("a sequence connected to a mirror is sent element by element")
    func connect() throws {
        let daemon = TestDaemon(Counter())
        let mirror = try daemon.connect().mirror(Counter.self)
        let (stream, input) = AsyncStream.makeStream(of: Counter.Action.self)
        mirror.connect(stream)
        input.yield(.increment(by: 1))
        input.yield(.decrement(by: 2))
        input.yield(.increment(by: 5))
        daemon.settle()
        #expect(mirror.state.history == [1, 5])
    }

    @Test("a leased child exists while a client holds the lease")
    func lease() throws {
        let daemon = TestDaemon(Board())
        let ann = daemon.connect()
        let bob = daemon.connect()
        var first: Lease<Counter>? = try ann.lease(Counter.self, at: "/notes/a")
        let second = try bob.lease(Counter.self, at: "/notes/a")
        let shown = try #require(first?.mirror)
        _ = try ann.dispatch(.increment(by: 2), to: shown)
        #expect(second.mirror.state.count == 2)
        first = nil
        daemon.settle()
        #expect(second.mirror.state.count == 2)
        bob.close()
        daemon.settle()
        #expect(daemon.state(of: Counter.self, at: "/notes/a") == nil)
        #expect(throws: ClientError.self) { try ann.lease(Counter.self, at: "/nowhere/a") }
        withExtendedLifetime(second) {}
    }

    @Test("a client ends when its mirrors and references are released, and the daemon learns of it")
    func end() throws {
        let daemon = TestDaemon(Bench())
        var client: TestClient? = daemon.connect()
        _ = try client?.dispatch(Bench.Action.sit("Ann"))
        #expect(daemon.state(of: Bench.self)?.seats == ["Ann"])
        client = nil
        daemon.settle()
        let watcher = daemon.connect()
        #expect(try watcher.mirror(Bench.self).state.seats == [])
        client = watcher
        #expect(client != nil)
    }
}
