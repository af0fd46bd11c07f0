import Glibc
import ReactorCore
import ReactorThreads
import StockReactors
import Testing

@testable import ReactorClient

/// A client in a process that was forked from the one that made it.
@Suite("Fork", .timeLimit(.minutes(10)))
struct ForkTests {
    private typealias Counter = StockReactors.Counter

    @Test("C95: in a forked process every call is refused, and the parent's client continues")
    func refused() async throws {
        let server = try LiveServer()
        let flag = Flag()
        let client = try await Client.connect(to: .socket(server.path), options: ClientOptions()) {
            flag.isUp
        }
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let pipeline = try await client.pipeline("/visits") { _, _ in }
        let action = Counter.Action.increment(by: 1)
        flag.raise()

        let error = ClientError.forked(pid: getpid())
        #expect(!visits.send(action))
        #expect(await visits.dispatch(action) == .failed(message: "never sent: \(error)"))
        await #expect(throws: error) { try await visits.reached(visits.revision) }
        await #expect(throws: error) { try await pipeline.send([action.wireBytes()]) }
        await #expect(throws: error) { try await client.pipeline("/visits") { _, _ in } }
        await #expect(throws: error) { try await client.mirror(Counter.self, at: "/visits") }
        await #expect(throws: error) { try await client.dispatch("/visits", action) }
        await #expect(throws: error) {
            try await client.batch([("/visits", WireEmbedded(action))])
        }
        await #expect(throws: error) { try await client.get("/visits") }
        await #expect(throws: error) { try await client.describe("/visits") }
        await #expect(throws: error) { try await client.tree() }
        await #expect(throws: error) { try await client.stats() }
        await #expect(throws: error) { try await client.limits() }
        await #expect(throws: error) { try await client.ping() }
        await #expect(throws: error) { try await client.drain() }
        var counts = client.watch("/visits/count").makeAsyncIterator()
        await #expect(throws: error) { _ = try await counts.next() }
        client.close()
        #expect(flag.take())
        #expect(await visits.dispatch(action).revision?.sequence == 1)
        client.close()
    }

    @Test("C95: a really forked process sends nothing, and its parent continues")
    func forked() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        #expect(visits.send(.increment(by: 1)))
        let status = try Forked.status {
            let isSent = visits.send(.increment(by: 10))
            client.close()
            return isSent ? 1 : 2
        }
        #expect(status == 2)
        #expect(await visits.dispatch(.increment(by: 100)).revision != nil)
        #expect(visits.count == 101)
        client.close()
    }
}
