import Glibc
import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

@Suite("Client", .timeLimit(.minutes(10)))
struct ClientTests {
    private typealias Counter = StockReactors.Counter

    @Test("a client names its socket and keeps the daemon's welcome")
    func connect() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(
            to: server.path, options: ClientOptions(program: "tests"))
        #expect(client.socketPath == server.path)
        #expect(client.welcome.daemon == "live" && client.welcome.epoch == 7)
        try await client.ping()
        client.close()
    }

    @Test("a task that prefers the client's executor stays on one thread from action to action")
    func executor() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let threads = await withTaskExecutorPreference(client.executor) {
            var threads: Set<pthread_t> = [pthread_self()]
            for _ in 0..<20 {
                #expect(await visits.dispatch(.increment(by: 1)).revision != nil)
                threads.insert(pthread_self())
            }
            return threads
        }
        #expect(threads.count == 1 && visits.state.count == 20)
        client.close()
        // The executor outlives the thread, so that a task that prefers it ends.
        let late = await withTaskExecutorPreference(client.executor) {
            await visits.dispatch(.increment(by: 1))
        }
        #expect(late.revision == nil)
    }

    @Test("connecting without a daemon is an error that names the path and the reason")
    func unreachable() async throws {
        let folder = SocketFolder()
        do throws(ClientError) {
            _ = try await Client.connect(to: folder.socket)
            Issue.record("the listener accepted a client")
        } catch {
            guard case .unreachable(let tried) = error else {
                Issue.record("expected unreachable, got \(error)")
                return
            }
            #expect(tried.map(\.path) == [folder.socket])
            #expect(tried.allSatisfy { !$0.reason.isEmpty })
        }
    }

    @Test("a client that keeps trying connects once there is a daemon")
    func keepsTrying() async throws {
        let folder = SocketFolder()
        let client = Task { try await Client.connect(to: folder.socket, options: .brisk) }
        let server = try LiveServer(in: folder)
        let connected = try await client.value
        #expect(connected.welcome.daemon == "live")
        connected.close()
        server.stop()
    }

    @Test("draining waits for the outcomes of all sent actions")
    func drain() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let outcomes = Notes<ActionOutcome>()
        let pipeline = try await client.pipeline("/visits") { _, outcome in outcomes.add(outcome) }
        await server.hold()
        let action = Counter.Action.increment(by: 1).wireBytes()
        try await pipeline.send([[UInt8]](repeating: action, count: 100))
        let drained = Task {
            try await client.drain()
            return outcomes.all.count
        }
        await server.until { $0.actionCount == 100 }
        #expect(outcomes.all.isEmpty)
        await server.release()
        #expect(try await drained.value == 100)
        try await client.drain()
        client.close()
    }

    @Test("closing ends actions, mirrors and questions, and refuses later ones")
    func close() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        await server.hold()
        let outcome = Task { await visits.dispatch(.increment(by: 1)) }
        await server.until { $0.actionCount == 1 }
        client.close()
        #expect(await outcome.value == .unknown(.ended))
        await visits.until { $0.phase == .failed(.ended) }
        #expect(
            await visits.dispatch(.reset) == .failed(message: "never sent: the client is closed"))
        await #expect(throws: ClientError.ended) { try await client.ping() }
        await #expect(throws: ClientError.ended) { try await client.drain() }
        await #expect(throws: ClientError.ended) { try await client.get("/visits") }
        await #expect(throws: ClientError.ended) {
            try await client.mirror(Counter.self, at: "/other")
        }
        await server.release()
        await server.until { $0.connectionCount == 0 }
    }

    @Test("a client ends with the last reference to it")
    func release() async throws {
        let server = try LiveServer()
        _ = try await Client.connect(to: server.path)
        await server.until { $0.connectionCount == 0 }
    }

    @Test("a mirror keeps its client alive")
    func keptByMirror() async throws {
        let server = try LiveServer()
        do {
            let visits = try await mirror(of: server)
            guard case .applied = await visits.dispatch(.increment(by: 5)) else {
                Issue.record("the client has ended")
                return
            }
            #expect(visits.state.count == 5)
        }
        await server.until { $0.connectionCount == 0 }
    }

    private func mirror(of server: LiveServer) async throws -> ReactorClient.Mirror<Counter> {
        let client = try await Client.connect(to: server.path)
        return try await client.mirror(Counter.self, at: "/visits")
    }

    @Test("the notices of an action's sender report its failed effect")
    func effectFailed() async throws {
        let server = try LiveServer(Errand())
        let client = try await Client.connect(to: server.path)
        let other = try await Client.connect(to: server.path)
        let told = Notes<String>()
        #expect(
            client.port.post { client in
                client.onNotice = { ordinal, notice in
                    told.add("\(ordinal) \(notice.code) \(notice.message)")
                }
            })
        #expect(
            other.port.post { $0.onNotice = { _, _ in told.add("told to the wrong one") } })
        for (count, text) in ["no road", "no fuel"].enumerated() {
            let outcome = try await client.dispatch("/", Errand.Action.run(text))
            #expect(outcome.revision != nil)
            #expect(await told.until(count + 1).last == "\(count + 1) effectFailed \(text)")
        }
        #expect(try await client.get("/runs").value == 2)
        #expect(told.all.count == 2)
        client.close()
        other.close()
    }

    @Test("C93: a cancelled caller gets unknown, and the action may still be applied")
    func cancelledDispatch() async throws {
        let server = try LiveServer()
        var options = ClientOptions()
        options.queueBytesMax = 1
        let client = try await Client.connect(to: server.path, options: options)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        await server.hold()
        let waiting = Task { await visits.dispatch(.increment(by: 1)) }
        await server.until { $0.actionCount == 1 }
        // The first action takes all the room, so the next one waits.
        let unsent = Task { await visits.dispatch(.increment(by: 10)) }
        unsent.cancel()
        #expect(await unsent.value == .failed(message: "never sent: cancelled while waiting"))
        waiting.cancel()
        #expect(await waiting.value == .unknown(.cancelled))
        await server.release()
        await visits.until { $0.count == 1 }
        #expect(await visits.dispatch(.increment(by: 100)).revision?.sequence == 2)
        #expect(visits.count == 101)
        client.close()
    }
}

// MARK: - Connections come and go
extension ClientTests {
    @Test("C90: with a new history, mirrors change from connecting to live and show it")
    func otherEpoch() async throws {
        let first = try LiveServer()
        let client = try await Client.connect(to: first.path, options: .brisk)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let other = try await client.mirror(Counter.self, at: "/other")
        _ = await visits.dispatch(.increment(by: 5))
        await first.hold()
        let lost = Task { await visits.dispatch(.increment(by: 1)) }
        await first.until { $0.actionCount == 2 }
        first.stop()
        await visits.until { $0.phase == .connecting }
        await other.until { !$0.isCurrent }
        #expect(visits.count == 5)
        let second = try LiveServer(in: first.folder, epoch: 8)
        #expect(await lost.value == .unknown(.historyLost))
        await visits.until { $0.phase == .live }
        await other.until { $0.phase == .live }
        #expect(visits.count == 0 && visits.revision == Revision(epoch: 8, sequence: 0))
        let outcome = await visits.dispatch(.increment(by: 2))
        #expect(outcome == .applied(Revision(epoch: 8, sequence: 1), reply: nil))
        #expect(visits.count == 2)
        client.close()
        second.stop()
    }

    @Test("a client reconnects, and each action under way is applied once")
    func lostConnection() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path, options: .brisk)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        await server.hold()
        let outcome = Task { await visits.dispatch(.increment(by: 1)) }
        await server.until { $0.actionCount == 1 }
        await server.cut()
        await server.release()
        #expect(
            await outcome.value == .ownerEnded(Revision(epoch: 7, sequence: 1), reply: nil))
        #expect(visits.count == 1)
        #expect(await server.on { $0.repeatCount } == 1)
        client.close()
    }
}
