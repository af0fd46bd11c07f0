import Dispatch
import Glibc
import ReactorCore
import ReactorLoop
import ReactorThreads
import StockReactors
import Testing

@testable import ReactorClient

@Suite("LoopClient", .timeLimit(.minutes(10)))
struct LoopClientTests {
    private typealias Counter = StockReactors.Counter

    /// A client of `server` on `loop`, connected.
    private func client(
        of server: LiveServer, on loop: EventLoop, _ options: ClientOptions = .brisk
    ) throws -> LoopClient {
        let client = try LoopClient(on: loop, to: server.path, options: options)
        var result: Result<Welcome, ClientError>?
        client.start { result = $0 }
        try loop.turn { result != nil }
        #expect(try result?.get().daemon == "live")
        return client
    }

    private func mirror<R: MirrorableReactor>(
        _ type: R.Type, at path: String, of client: LoopClient
    ) throws -> ReactorClient.Mirror<R> {
        var result: Result<ReactorClient.Mirror<R>, ClientError>?
        client.act { $0.mirror(type, at: path) { result = $0 } }
        try client.loop.turn { result != nil }
        return try #require(try result?.get())
    }

    private func open(_ path: String, _ client: LoopClient) throws -> NodeID {
        var result: Result<NodeID, ClientError>?
        client.act { $0.open(path) { result = $0 } }
        try client.loop.turn { result != nil }
        return try #require(try result?.get())
    }

    @Test("two clients on one loop see each other's changes")
    func twoClients() throws {
        let server = try LiveServer()
        let loop = try EventLoop()
        let first = try client(of: server, on: loop)
        let second = try client(of: server, on: loop)
        let shown = try mirror(Counter.self, at: "/visits", of: second)
        let node = try open("/visits", first)
        var outcomes: [ActionOutcome] = []
        try first.act { machine in
            try machine.dispatch(Counter.Action.increment(by: 4), to: node) { outcomes.append($0) }
        }
        try loop.turn { !outcomes.isEmpty && shown.count == 4 }
        #expect(outcomes == [.applied(Revision(epoch: 7, sequence: 1), reply: nil)])
        #expect(first.socketPath == server.path)
        first.close()
        second.close()
        loop.close()
    }

    @Test("a text that is no daemon's name is refused, and nothing is tried")
    func noName() async throws {
        do throws(ClientError) {
            _ = try await Client.connect(to: .daemon("../reactord"))
            Issue.record("the name leads to another directory")
        } catch {
            guard case .unreachable(let tried) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(tried.count == 1 && error.description.contains("slash"))
        }
    }

    @Test("at a system's own path the directory's owner is trusted, at no other path")
    func trust() {
        var options = ClientOptions()
        func trust(_ path: String) -> SocketTrust { LoopClient.trust(in: path, options) }
        let system = SocketTrust(trustsSystemDirectory: true)
        #expect(trust("/run/reactord/reactord.sock") == system)
        #expect(trust("/run/tracker-daemon/tracker-daemon.sock") == system)
        #expect(trust("/run/tracker-daemon/admin.sock") == system)
        for other in ["/run/reactord/other.sock", "/run/other/reactord.sock", "reactord.sock"] {
            #expect(trust(other) == SocketTrust())
        }
        options.daemonUID = 54_321
        #expect(trust("/tmp/s") == SocketTrust(named: 54_321))
    }

    @Test(
        "a named socket in a directory of another user is not trusted",
        .enabled(if: getuid() == 0))
    func strangersDirectory() throws {
        let server = try RawServer([])
        _ = unsafe chown(String(server.path.dropLast(2)), 54_321, 54_321)
        let loop = try EventLoop()
        let client = try LoopClient(on: loop, to: server.path)
        var result: Result<Welcome, ClientError>?
        client.start { result = $0 }
        try loop.turn { result != nil }
        guard case .failure(.unreachable(let tried))? = result else {
            Issue.record("the socket was trusted: \(String(describing: result))")
            return
        }
        #expect(tried.map(\.path) == [server.path] && tried.map(\.obstacle) == [.untrusted])
        loop.close()
    }

    @Test("C92: a callback may close its client and release the last reference to it")
    func lastReference() throws {
        let server = try LiveServer()
        let loop = try EventLoop()
        var client: LoopClient? = try self.client(of: server, on: loop)
        let node = try open("/visits", try #require(client))
        var isTold = false
        try client?.act { machine in
            try machine.dispatch(Counter.Action.increment(by: 1), to: node) { _ in
                client?.close()
                client = nil
                isTold = true
            }
        }
        try loop.turn { isTold }
        #expect(client == nil)
        loop.turn(.noWait)
        loop.close()
    }

    @Test("C92: a callback may dispatch again, open, mirror, ask and release")
    func reentrantCallbacks() throws {
        let server = try LiveServer()
        let loop = try EventLoop()
        let client = try client(of: server, on: loop)
        let node = try open("/visits", client)
        var count = 0
        var steps: [String] = []
        func again(_ outcome: ActionOutcome) {
            count += 1
            if count < 100 {
                try? send()
                return
            }
            mirror { count in
                steps.append("mirror \(count)")
                client.act { machine in
                    machine.open("/other") { _ in
                        steps.append("open")
                        client.act { $0.ping { _ in ask() } }
                    }
                }
            }
        }
        func send() throws {
            try client.act {
                try $0.dispatch(Counter.Action.increment(by: 1), to: node, then: again)
            }
        }
        func mirror(_ then: @escaping (Int64) -> Void) {
            client.act { machine in
                machine.mirror(Counter.self, at: "/visits") { then((try? $0.get())?.count ?? 0) }
            }
        }
        func ask() {
            steps.append("ping")
            client.act { $0.ask(.stats) { _ in steps.append("ask") } }
        }
        try send()
        try loop.turn { steps.count == 4 }
        #expect(steps == ["mirror 100", "open", "ping", "ask"])
        client.close()
        loop.close()
    }

    @Test("C92: a callback may close the client")
    func closingCallback() throws {
        let server = try LiveServer()
        let loop = try EventLoop()
        let client = try client(of: server, on: loop)
        let node = try open("/visits", client)
        var outcomes: [ActionOutcome] = []
        for _ in 0..<3 {
            try client.act { machine in
                try machine.dispatch(Counter.Action.increment(by: 1), to: node) { outcome in
                    outcomes.append(outcome)
                    client.close()
                }
            }
        }
        try loop.turn { outcomes.count == 3 }
        #expect(outcomes.map { $0.revision?.sequence } == [1, nil, nil])
        #expect(client.machine.phase == .failed(.ended))
        loop.close()
    }

    @Test("a mirror released on the loop's thread ends its subscription")
    func releaseHere() throws {
        let server = try LiveServer()
        let loop = try EventLoop()
        let client = try client(of: server, on: loop)
        do {
            let visits = try mirror(Counter.self, at: "/visits", of: client)
            let counts = server.peek { $0.subscriptionCounts }
            #expect(visits.count == 0 && counts == [1])
        }
        try loop.turn { !client.machine.needsShell }
        let isTold = server.waits { $0.subscriptionCounts == [0] }
        #expect(isTold)
        client.close()
        loop.close()
    }

    @Test("a mirror released on another thread wakes the loop, and ends its subscription")
    func releaseElsewhere() throws {
        let server = try LiveServer()
        let loop = try EventLoop()
        let client = try client(of: server, on: loop)
        var visits: ReactorClient.Mirror<Counter>? = try mirror(
            Counter.self, at: "/visits", of: client)
        weak let shown = visits
        let door = DispatchSemaphore(value: 0)
        let held = Guarded(visits)
        visits = nil
        _ = try WorkThread(name: "holder") {
            door.wait()
            held.withLock { $0 = nil }
        }
        let counts = server.peek { $0.subscriptionCounts }
        #expect(shown != nil && counts == [1])
        // What wakes the loop before that is the release alone.
        let isTold = Guarded(false)
        let wake = loop.handle
        server.notify(
            when: { $0.subscriptionCounts == [0] },
            by: { wake.post { isTold.withLock { $0 = true } } })
        door.signal()
        try loop.turn { isTold.withLock { $0 } }
        #expect(shown == nil)
        client.close()
        loop.close()
    }

    @Test("a client reconnects after the daemon's end, and reports the phase")
    func reconnect() throws {
        let first = try LiveServer()
        let loop = try EventLoop()
        let client = try client(of: first, on: loop)
        let visits = try mirror(Counter.self, at: "/visits", of: client)
        var phases: [ClientPhase] = []
        client.machine.onPhase = { phases.append($0) }
        first.stop()
        try loop.turn { phases == [.connecting] }
        #expect(visits.phase == .connecting)
        let second = try LiveServer(in: first.folder, epoch: 8)
        try loop.turn { visits.phase == .live }
        #expect(phases == [.connecting, .live] && visits.revision.epoch == 8)
        client.close()
        #expect(phases.last == .failed(.ended))
        loop.close()
        second.stop()
    }

    @Test("requests from outside a turn leave with the next turn")
    func note() throws {
        let server = try LiveServer()
        let loop = try EventLoop()
        let client = try client(of: server, on: loop)
        let node = try open("/visits", client)
        var outcome: ActionOutcome?
        try client.machine.dispatch(Counter.Action.increment(by: 1), to: node) { outcome = $0 }
        client.expectTurnEnd()
        try loop.turn { outcome != nil }
        #expect(outcome?.revision?.sequence == 1)
        client.close()
        loop.close()
    }

    @Test("a closed loop accepts no client")
    func closedLoop() throws {
        let loop = try EventLoop()
        loop.close()
        #expect(throws: ClientError.self) { try LoopClient(on: loop, to: "/nowhere") }
    }

    @Test("the client tries each path in turn, and names a path that no socket can have")
    func places() throws {
        let loop = try EventLoop()
        let path = "/" + String(repeating: "x", count: 200)
        let client = try LoopClient(on: loop, to: path)
        var error: ClientError?
        client.start { if case .failure(let failure) = $0 { error = failure } }
        try loop.turn { error != nil }
        guard case .unreachable(let tried) = error else {
            Issue.record("expected unreachable, got \(String(describing: error))")
            return
        }
        #expect(tried.map(\.path) == [path])
        loop.close()
    }
}
