import ReactorClient
import ReactorCore
import ReactorTesting
import Testing

@Suite("A daemon in memory")
struct TestDaemonTests {
    @Test("when a dispatch returns, the mirrors of all clients show the change")
    func shared() throws {
        let daemon = TestDaemon(Counter())
        let clients = (0..<20).map { _ in daemon.connect() }
        let mirrors = try clients.map { try $0.mirror(Counter.self) }
        for (client, mirror) in zip(clients, mirrors) {
            _ = try client.dispatch(.increment(by: 1), to: mirror)
        }
        #expect(mirrors.map(\.state.count) == Array(repeating: 20, count: 20))
        #expect(daemon.state(of: Counter.self)?.count == 20)
    }

    @Test("a daemon is released with its clients after the last reference")
    func gone() throws {
        weak var daemon: TestDaemon?
        weak var tree: Tree?
        func hold() throws {
            let held = TestDaemon(Counter())
            let mirror = try held.connect().mirror(Counter.self)
            held.settle()
            (daemon, tree) = (held, held.tree)
            #expect(mirror.phase == .live)
        }
        try hold()
        #expect(daemon == nil && tree == nil)
    }

    @Test("a removed child is released, although connections have it open")
    func removedChild() throws {
        let daemon = TestDaemon(Inn())
        let clients = [daemon.connect(), daemon.connect()]
        let host = clients[0]
        for name in ["a", "b"] { _ = try host.dispatch(Inn.Action.open(name)) }
        var mirrors: [ReactorClient.Mirror<Guest>] = []
        for client in clients {
            mirrors.append(try client.mirror(Guest(), at: "/guests/a"))
            let outcome = try client.dispatch(Guest.Action.greet, to: "/guests/a")
            #expect(outcome.revision != nil)
            #expect(try client.get("/guests/a/greetings") != nil)
        }
        weak let node = daemon.tree.node(at: SlicePath(["guests", "a"]))
        weak let inner = daemon.tree.node(at: SlicePath(["guests", "a", "count"]))
        weak let luggage = daemon.state(of: Guest.self, at: "/guests/a")?.luggage
        #expect(node != nil && inner != nil && luggage != nil)
        _ = try host.dispatch(Inn.Action.close("a"))
        #expect(node == nil && inner == nil && luggage == nil)
        #expect(mirrors.allSatisfy { $0.phase == .failed(.gone(path: "/guests/a")) })
        // The other child stays.
        #expect(daemon.state(of: Guest.self, at: "/guests/b")?.luggage != nil)
    }

    @Test("a child that is removed and created again in one transaction is released")
    func replacedChild() throws {
        let daemon = TestDaemon(Inn())
        let client = daemon.connect()
        _ = try client.dispatch(Inn.Action.open("a"))
        let mirror = try client.mirror(Guest(), at: "/guests/a")
        weak let luggage = daemon.state(of: Guest.self, at: "/guests/a")?.luggage
        #expect(luggage != nil)
        _ = try client.dispatch(Inn.Action.reopen("a"))
        #expect(luggage == nil && daemon.state(of: Guest.self, at: "/guests/a")?.luggage != nil)
        withExtendedLifetime(mirror) {}
    }

    @Test("F81: effects in the daemon wait until the test advances the time")
    func effects() throws {
        let daemon = TestDaemon(Search())
        let client = daemon.connect()
        let mirror = try client.mirror(Search.self)
        _ = try client.dispatch(.type("a"), to: mirror)
        daemon.advance(by: .milliseconds(299))
        #expect(mirror.state.result == "")
        daemon.advance(by: .milliseconds(1))
        #expect(mirror.state.result == "A")
    }

    @Test("F47: perform waits for the action's effects, and thus until the test advances the time")
    func performs() throws {
        let daemon = TestDaemon(Search())
        let client = daemon.connect()
        let mirror = try client.mirror(Search.self)
        var results: [String] = []
        try client.perform(Search.Action.type("a")) { outcome in
            results.append("\(outcome.revision?.sequence ?? 0) \(mirror.state.result)")
        }
        daemon.advance(by: .milliseconds(299))
        #expect(results == [])
        // The outcome has arrived already; after a loss the client requests it again.
        client.disconnect()
        daemon.advance(by: .seconds(1))
        #expect(results == ["1 A"])
    }

    @Test("a client reconnects by itself after a broken connection and after a restart")
    func comeback() throws {
        let daemon = TestDaemon(Counter())
        let client = daemon.connect()
        let mirror = try client.mirror(Counter.self)
        client.disconnect()
        #expect(mirror.phase == .connecting)
        let other = daemon.connect()
        _ = try other.dispatch(Counter.Action.increment(by: 3))
        #expect(mirror.state.count == 0)
        daemon.advance(by: .seconds(1))
        #expect(mirror.phase == .live && mirror.state.count == 3)
        daemon.restart(Counter())
        daemon.advance(by: .seconds(10))
        #expect(mirror.phase == .live && mirror.state.count == 0)
        #expect(daemon.tree.revision.epoch == 2)
    }

    @Test("a restart with the history continues states, outcomes and plans, and releases claims")
    func recovered() throws {
        let daemon = TestDaemon(Workshop())
        let client = daemon.connect()
        let mirror = try client.mirror(Workshop.self)
        _ = try client.dispatch(Workshop.Action.open)
        _ = try client.dispatch(Workshop.Action.sit)
        _ = try client.dispatch(Order.Action.work(limit: 5), to: "/orders/1")
        #expect(mirror.state.desks.count == 1)
        try daemon.restart()
        #expect(mirror.phase == .connecting)
        daemon.advance(by: .milliseconds(30))
        #expect(daemon.state(of: Order.self, at: "/orders/1")?.steps == 1)
        #expect(daemon.state(of: Workshop.self)?.desks == [])
        #expect(daemon.tree.revision.epoch == 1)
        daemon.advance(by: .seconds(2))
        #expect(mirror.phase == .live && mirror.state.last == 1)
        // The plan of the first start has removed the order.
        #expect(mirror.state.numbers == [])
    }

    @Test("time goes on over a restart: a plan comes at its time, and not a whole span later")
    func planned() throws {
        let daemon = TestDaemon(Workshop())
        daemon.advance(by: .seconds(3_600))
        _ = try daemon.connect().dispatch(Workshop.Action.open)
        daemon.advance(by: .milliseconds(50))
        try daemon.restart()
        #expect(daemon.state(of: Workshop.self)?.numbers == [1])
        daemon.advance(by: .milliseconds(10))
        #expect(daemon.state(of: Workshop.self)?.numbers == [])
    }

    @Test("the next version continues the history, and another reactor is refused")
    func upgraded() throws {
        let daemon = TestDaemon(Workshop())
        _ = try daemon.connect().dispatch(Workshop.Action.open)
        try daemon.upgrade(to: NextVersion.Workshop())
        #expect(daemon.state(of: NextVersion.Workshop.self)?.open == [1])
        let error = #expect(throws: UnreadableHistory.self) { try daemon.upgrade(to: Counter()) }
        #expect(error?.description.contains("Workshop") ?? false)
    }

    @Test("a refusal is an error, a rejection is an outcome, and a closed client fails")
    func refusals() throws {
        let client = TestDaemon(Counter()).connect()
        #expect(throws: ClientError.self) { try client.mirror(Counter.self, at: "/nowhere") }
        #expect(throws: ClientError.self) {
            try client.dispatch(Counter.Action.ask, to: "/nowhere")
        }
        let outcome = try client.dispatch(Counter.Action.decrement(by: 1))
        #expect(outcome == .rejected(Rejection("negative", "only 0")))
        #expect(throws: ClientError.self) { try client.get("/nowhere") }
        #expect(try client.get("/count") == .integer(0))
        client.close()
        #expect(throws: ClientError.ended) { try client.dispatch(Counter.Action.ask) }
    }

    @Test("an action whose condition no longer holds is rejected")
    func conditions() throws {
        let client = TestDaemon(Counter()).connect()
        let first = try client.dispatch(Counter.Action.increment(by: 1))
        let expected = try #require(first.revision)
        _ = try client.dispatch(Counter.Action.increment(by: 1))
        let outcome = try client.dispatch(
            Counter.Action.increment(by: 1), to: "/", DispatchOptions(expected: expected))
        guard case .rejected(let rejection) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(rejection.code == "CONFLICT")
    }
}
