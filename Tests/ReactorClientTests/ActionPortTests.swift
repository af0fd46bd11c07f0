import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

@Suite("ActionPort", .timeLimit(.minutes(10)))
struct ActionPortTests {
    private typealias Counter = StockReactors.Counter

    @Test("callers that await outcomes wait for room, however many they are, with any conditions")
    func waitsForRoom() async throws {
        let server = try LiveServer()
        var options = ClientOptions()
        options.queueBytesMax = 2_000
        options.inFlightMax = 1
        let client = try await Client.connect(to: server.path, options: options)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let conditions = DispatchOptions(cancel: String(repeating: "x", count: 200))
        let outcomes = await withTaskGroup(of: DispatchOutcome<NoReply>.self) { group in
            for _ in 0..<200 {
                group.addTask { await visits.dispatch(.increment(by: 1), conditions) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(outcomes.compactMap { $0.revision?.sequence }) == Set(1...200))
        #expect(visits.count == 200)
        client.close()
    }

    @Test("an action that exceeds every frame is refused, and its room is returned")
    func tooLarge() async throws {
        let server = try LiveServer()
        var options = ClientOptions()
        options.queueBytesMax = 1_000
        let client = try await Client.connect(to: server.path, options: options)
        let bytes = [UInt8](repeating: 0, count: 2 << 20)
        for _ in 0..<3 {
            let outcome = try await client.dispatch("/visits", encoded: bytes)
            guard case .failed(let message) = outcome else {
                Issue.record("2 MiB were sent: \(outcome)")
                return
            }
            #expect(message.contains("frameBytesMax"))
        }
        #expect(
            try await client.dispatch("/visits", Counter.Action.reset).revision?.sequence == 1)
        client.close()
    }

    @Test("actions of many tasks apply once each")
    func manyTasks() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<20 {
                group.addTask {
                    for _ in 0..<50 {
                        if task % 2 == 0 {
                            visits.send(.increment(by: 1))
                        } else {
                            _ = await visits.dispatch(.increment(by: 1))
                        }
                    }
                }
            }
        }
        try await client.drain()
        #expect(visits.count == 1_000)
        client.close()
    }
}
