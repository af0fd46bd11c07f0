import ReactorClient
import ReactorCore
import StockReactors
import Testing

// The code of the guides on the client, line for line.

private typealias Counter = StockReactors.Counter

/// The guides' programs; they look for a daemon at the usual paths.
private enum Programs {
    static func log(_ text: String) {}
    static func show(_ count: Int64) {}

    static func begin() async throws -> (DispatchOutcome<NoReply>, Int64) {
        let client = try await Client.connect()
        let counter = try await client.mirror(Counter.self, at: "/visits")
        let outcome = await counter.dispatch(.increment(by: 5))
        let count = counter.count  // memory, no I/O; the change is in it
        return (outcome, count)
    }

    static func find() async throws -> Client {
        let client = try await Client.connect(to: .daemon("tracker-daemon"))
        return client
    }

    static func route(tenant: String) async throws -> DispatchOutcome<NoReply> {
        let shards = try await ShardedClient.connect(
            to: ["blue": .daemon("shop-blue"), "green": .daemon("shop-green")],
            overrides: ["acme": "green"])
        let client = shards.client(for: tenant)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        return await visits.dispatch(.increment(by: 1))
    }

    static func versions(_ client: Client) async throws {
        let counter = try await client.mirror(Counter.self, at: "/visits", missing: .defaults)
        if case .differing(let difference) = counter.phase { log("\(difference)") }
    }

    static func observe(
        _ counter: Mirror<Counter>, _ other: Mirror<Counter>, over client: Client
    ) async {
        await rerunningOnChange {
            let difference = client.read(counter, other) { $0.count - $1.count }
            show(difference)
        }
    }

    static func readCurrent(
        _ visits: Mirror<Counter>, since revision: Revision, over client: Client
    ) async throws -> WireValue? {
        try await client.sync(.linearizable)
        let (_, value) = try await client.get("/visits")
        try await visits.sync(.atLeast(revision))
        return value
    }

    static func shape(_ client: Client) async throws {
        let count = try await client.mirror(value: Int64.self, at: "/visits/count")
        show(count.value)
    }

    static func recover(from path: String) async throws -> Client {
        var options = ClientOptions(program: "worker")
        options.journal = path
        let client = try await Client.connect(options: options)
        return client
    }

    static func count(
        _ visits: [Int64], in counter: Mirror<Counter>, over client: Client
    ) async {
        await withTaskExecutorPreference(client.executor) {
            for visit in visits { _ = await counter.dispatch(.increment(by: visit)) }
        }
    }

    static func follow(_ counter: Mirror<Counter>) async {
        for await count in counter.states(\.count) {
            show(count)
        }
    }

    static func tell(_ counter: Mirror<Counter>) async {
        switch await counter.dispatch(.increment(by: 5)) {
        case .applied(let revision, _): log("applied at \(revision)")
        case .ownerEnded: log("applied, and what it acquired is gone")
        case .accepted: log("in a stream of the reactor")
        case .rejected(let rejection): log("refused: \(rejection)")
        case .failed(let message): log("not sent, or its reply is unreadable: \(message)")
        case .unknown(let reason): log("unknown: \(reason)")
        }
    }

    static func move(
        from other: Mirror<Counter>, to visits: Mirror<Counter>, over client: Client
    ) async throws -> BatchOutcome {
        let outcome = try await client.atomically { batch in
            batch.send(.increment(by: 5), to: visits)
            batch.send(.decrement(by: 5), to: other)
        }
        if let refused = outcome.refused {
            log("\(refused.path) refused action \(refused.index): \(refused.rejection)")
        }
        return outcome
    }

    static func preview(_ counter: Mirror<Counter>) {
        counter.send(.increment(by: 1), isPreviewed: true)
    }

    static func lease(_ client: Client) async throws -> DispatchOutcome<NoReply> {
        let lease = try await client.lease(Counter.self, at: "/rooms/7")
        let outcome = await lease.mirror.dispatch(.increment(by: 1))
        return outcome
    }
}

@Suite("guide: client", .timeLimit(.minutes(10)))
struct ClientGuideTests {
    @Test("a preview shows at once, and an outcome means that the mirror shows the change")
    func previewed() async throws {
        let server = try LiveServer(Counter())
        let client = try await Client.connect(to: server.path)
        let counter = try await client.mirror(Counter.self, at: "/")
        Programs.preview(counter)
        #expect(counter.count == 1)
        await Programs.tell(counter)
        #expect(counter.count == 6)
        client.close()
    }

    @Test("a client and its mirror catch up with a revision, and with the daemon")
    func synced() async throws {
        let server = try LiveServer()
        let (writer, reader) = (
            try await Client.connect(to: server.path), try await Client.connect(to: server.path)
        )
        let visits = try await reader.mirror(Counter.self, at: "/visits")
        for count in 1...5 as ClosedRange<Int64> {
            let outcome = try await writer.dispatch("/visits", Counter.Action.increment(by: 1))
            let revision = try #require(outcome.revision)
            let value = try await Programs.readCurrent(visits, since: revision, over: reader)
            #expect(value == (try WireValue(json: "{\"count\":\(count)}")))
            #expect(visits.count == count && visits.revision == revision)
        }
        #expect(try await visits.sync(.linearizable) == visits.revision)
        let next = Revision(
            epoch: visits.revision.epoch, sequence: visits.revision.sequence + 1)
        await #expect(throws: ClientError.self) {
            try await reader.get("/visits", .atLeast(next), within: .milliseconds(20))
        }
        writer.close()
        reader.close()
    }

    @Test("actions for several mirrors are one transaction")
    func moved() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let other = try await client.mirror(Counter.self, at: "/other")
        let outcome = try await Programs.move(from: other, to: visits, over: client)
        #expect(outcome.revision?.sequence == 1 && visits.count == 5 && other.count == -5)
        client.close()
    }

    @Test("a leased child exists for its holder")
    func leased() async throws {
        let server = try LiveServer(Hostel())
        let client = try await Client.connect(to: server.path)
        guard case .applied = try await Programs.lease(client) else {
            Issue.record("the action was not applied")
            return
        }
        client.close()
    }
}
