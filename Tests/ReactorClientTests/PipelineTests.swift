import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

@Suite("Pipeline", .timeLimit(.minutes(10)))
struct ClientPipelineTests {
    private typealias Counter = StockReactors.Counter

    @Test("each action is reported once, by its number, and they apply in order")
    func order() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let reports = Notes<[UInt64]>()
        let pipeline = try await client.pipeline("/visits") { index, outcome in
            reports.add([index, outcome.revision?.sequence ?? 0])
        }
        let action = Counter.Action.increment(by: 1).wireBytes()
        for count in [1, 999, 2_000] {
            try await pipeline.send([[UInt8]](repeating: action, count: count))
        }
        #expect(pipeline.count == 3_000)
        let all = await reports.until(3_000)
        #expect(all == (0..<3_000).map { [$0, $0 + 1] })
        client.close()
    }

    @Test("bytes beyond the limit are sent once there is room")
    func moreThanRoom() async throws {
        let server = try LiveServer()
        var options = ClientOptions()
        options.queueBytesMax = 5_000
        options.inFlightMax = 10
        let client = try await Client.connect(to: server.path, options: options)
        let failures = Notes<ActionOutcome>()
        let pipeline = try await client.pipeline("/visits") { _, outcome in
            if outcome.revision == nil { failures.add(outcome) }
        }
        let action = Counter.Action.increment(by: 1).wireBytes()
        try await pipeline.send([[UInt8]](repeating: action, count: 2_000))
        try await client.drain()
        #expect(failures.all == [])
        #expect(try await client.get("/visits/count").value == 2_000)
        client.close()
    }

    @Test("a cancelled sender throws, and the sent actions are counted")
    func cancellation() async throws {
        let server = try LiveServer()
        var options = ClientOptions()
        options.queueBytesMax = 1_000
        let client = try await Client.connect(to: server.path, options: options)
        let reports = Notes<UInt64>()
        let action = Counter.Action.increment(by: 1).wireBytes()
        await server.hold()
        let sender = Task {
            let pipeline = try await client.pipeline("/visits") { index, _ in reports.add(index) }
            let error = await #expect(throws: ClientError.self) {
                try await pipeline.send([[UInt8]](repeating: action, count: 100))
            }
            #expect(error == .cancelled)
            return pipeline.count
        }
        await server.until { $0.actionCount > 0 }
        sender.cancel()
        let count = try await sender.value
        #expect(count > 0 && count < 100)
        await server.release()
        try await client.drain()
        #expect(reports.all == Array(0..<count))
        #expect(
            try await client.get("/visits/count").value
                == .integer(WireInteger(isNegative: false, magnitude: count)))
        client.close()
    }

    @Test("an action that exceeds every frame is reported, and later ones are sent")
    func tooLarge() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let outcomes = Notes<ActionOutcome>()
        let pipeline = try await client.pipeline("/visits") { _, outcome in outcomes.add(outcome) }
        let action = Counter.Action.increment(by: 1).wireBytes()
        try await pipeline.send([[UInt8](repeating: 0, count: 2 << 20), action])
        let all = await outcomes.until(2)
        let text = "never sent: \(ClientError.tooLarge(byteCount: 2 << 20, bytesMax: 1 << 20))"
        #expect(all.first == .failed(message: text))
        #expect(all.last?.revision?.sequence == 1)
        client.close()
    }

    @Test("a client that has ended sends nothing")
    func ended() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let pipeline = try await client.pipeline("/visits") { _, _ in }
        client.close()
        // Closing takes effect on the client's own thread.
        await #expect(throws: ClientError.ended) { try await client.ping() }
        await #expect(throws: ClientError.ended) { try await pipeline.send([[0xf6]]) }
        #expect(pipeline.count == 0)
        await #expect(throws: ClientError.ended) { try await client.pipeline("/other") { _, _ in } }
    }
}
