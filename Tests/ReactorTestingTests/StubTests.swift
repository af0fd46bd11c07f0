import ReactorClient
import ReactorCore
import ReactorTesting
import Testing

@Suite("Stubs for reactors")
struct StubTests {
    @Test(
        "F79: a stub records actions in order and has the forced state; its reactor never runs"
    )
    func stub() throws {
        let stub = Stub(Counter.self)
        let daemon = TestDaemon(stub)
        let client = daemon.connect()
        let mirror = try client.mirror(Counter.self)
        #expect(mirror.state == Counter.State())
        guard case .applied = try client.dispatch(.increment(by: 2), to: mirror) else {
            Issue.record("an action is applied")
            return
        }
        _ = try client.dispatch(.decrement(by: 9), to: mirror)
        #expect(stub.actions == [.increment(by: 2), .decrement(by: 9)])
        #expect(mirror.state.count == 0)
        stub.force(Counter.State(count: 7))
        daemon.settle()
        #expect(mirror.state.count == 7)
        stub.forgetActions()
        #expect(stub.actions == [])
    }

    @Test("F79: a stub rejects and replies with the test's closure")
    func answers() throws {
        let stub = Stub(Counter())
        stub.answer { action throws(Rejection) in
            if action == .ask { return .count(99) }
            throw Rejection("closed", "come back tomorrow")
        }
        let client = TestDaemon(stub).connect()
        let mirror = try client.mirror(Counter.self)
        guard case .applied(_, reply: .count(99)) = try client.dispatch(.ask, to: mirror) else {
            Issue.record("no reply")
            return
        }
        let outcome = try client.dispatch(.increment(by: 1), to: mirror)
        #expect(outcome == .rejected(Rejection("closed", "come back tomorrow")))
        #expect(stub.actions == [.ask, .increment(by: 1)])
    }

    @Test("F79: a state forced before the daemon starts is shown as soon as it runs")
    func early() throws {
        let stub = Stub(Counter.self)
        stub.force(Counter.State(count: 3))
        let daemon = TestDaemon(ReactorGroup([("here", stub)]))
        let mirror = try daemon.connect().mirror(Counter.self, at: "/here")
        #expect(mirror.state.count == 3)
    }

    @Test("F79: a client cannot distinguish a stub behind a socket from a daemon")
    func live() async throws {
        let stub = Stub(Counter.self)
        let daemon = try LiveDaemon(stub)
        let client = try await Client.connect(to: daemon.path)
        let mirror = try await client.mirror(Counter.self, at: "/")
        stub.force(Counter.State(count: 7))
        for await state in mirror.states() where state.count == 7 { break }
        let outcome = await mirror.dispatch(.increment(by: 2))
        #expect(outcome.revision != nil)
        #expect(stub.actions == [.increment(by: 2)])
        client.close()
        daemon.stop()
    }
}
