import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

@Suite("Mirrors of a client", .timeLimit(.minutes(10)))
struct ClientMirrorsTests {
    private typealias Counter = StockReactors.Counter

    @Test("the same path and type give the same mirror while a reference to it exists")
    func sameMirror() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        #expect(try await client.mirror(Counter(), at: "/visits") === visits)
        #expect(try await client.mirror(Counter.self, at: "/%76isits") === visits)
        let other = try await client.mirror(OtherCounter.self, at: "/visits")
        #expect(other.count == visits.count)
        #expect(try await client.mirror(Counter.self, at: "/other") !== visits)
        client.close()
    }

    @Test("the last reference to a mirror ends its subscription, and a new mirror can be made")
    func release() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let other = try await client.mirror(Counter.self, at: "/other")
        do {
            let visits = try await client.mirror(Counter.self, at: "/visits")
            #expect(await visits.dispatch(.increment(by: 1)).revision != nil)
            #expect(await server.subscriptionCounts() == [2])
        }
        await server.until { $0.subscriptionCounts == [1] }
        let visits = try await client.mirror(Counter.self, at: "/visits")
        #expect(visits.count == 1)
        #expect(await visits.dispatch(.increment(by: 1)).revision != nil)
        #expect(visits.count == 2 && other.revision == visits.revision)
        #expect(await server.subscriptionCounts() == [2])
        client.close()
    }

    @Test("a client follows a mirror while a reader of its states holds it")
    func heldByReader() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        var counts = try await states(of: client)
        #expect(await counts.next() == 0)
        _ = try await client.dispatch("/visits", Counter.Action.increment(by: 1))
        #expect(await counts.next() == 1)
        #expect(await server.subscriptionCounts() == [1])
        client.close()
    }

    private func states(
        of client: Client
    ) async throws -> sending MirrorStates<Counter, Int64>.Iterator {
        try await client.mirror(Counter.self, at: "/visits").states(\.count).makeAsyncIterator()
    }

    @Test("two mirrors are read at one revision, however fast clients write to both")
    func neverTorn() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let writer = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let other = try await client.mirror(Counter.self, at: "/other")
        let writing = Task {
            for _ in 0..<300 {
                let amount = Int64(1)
                let outcome = try await writer.batch([
                    ("/visits", WireEmbedded(Counter.Action.increment(by: amount))),
                    ("/other", WireEmbedded(Counter.Action.decrement(by: amount))),
                ])
                #expect(outcome.revision != nil)
            }
        }
        var seen: Set<Int64> = []
        while !seen.contains(300) {
            let (first, second) = client.read(visits, other) { ($0.count, $1.count) }
            #expect(first == -second)
            seen.insert(first)
            await Task.yield()
        }
        #expect(seen.count > 2)
        try await writing.value
        client.close()
        writer.close()
    }

    @Test("where only the mutations differ, a mirror follows the value")
    func fallBack() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        _ = try await client.dispatch("/visits", Counter.Action.increment(by: 3))
        let mirror = try await client.mirror(OtherCounter.self, at: "/visits")
        #expect(mirror.count == 3 && mirror.isCurrent && mirror.id == nil)
        let outcome = try await client.dispatch("/visits", Counter.Action.increment(by: 4))
        try await mirror.reached(try #require(outcome.revision))
        #expect(mirror.count == 7)
        await server.cut()
        let counter = try await client.mirror(Counter.self, at: "/visits")
        #expect(await counter.dispatch(.increment(by: 1)).revision != nil)
        #expect(mirror.count == 8 && counter.count == 8)
        client.close()
    }

    @Test("a mirror of another type, whose fields all have defaults, fails and names both")
    func otherType() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        do throws(ClientError) {
            let mirror = try await client.mirror(DefaultedStats.self, at: "/visits")
            Issue.record("the counter is shown as \(mirror.state)")
        } catch {
            #expect(
                error
                    == .otherReactor(
                        path: "/visits", expected: "DefaultedStats", actual: "Counter"))
        }
        await server.until { $0.subscriptionCounts == [0] }
        client.close()
    }

    @Test("a type of the same name may have more fields, if they have defaults, or fewer")
    func laterVersion() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        _ = try await client.dispatch("/visits", Counter.Action.increment(by: 3))
        let mirror = try await client.mirror(Later.Counter.self, at: "/visits")
        #expect(mirror.state == Later.Counter.State(count: 3, title: "none"))
        client.close()
    }

    @Test("where the state cannot be read as a value either, the mirror fails and names the field")
    func incompatible() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        do throws(ClientError) {
            _ = try await client.mirror(Named.Counter.self, at: "/visits")
            Issue.record("a counter has no title")
        } catch {
            guard case .incompatible(let path, let reason) = error else {
                Issue.record("expected incompatible, got \(error)")
                return
            }
            #expect(path == "/visits" && "\(reason)".contains("title"))
            #expect("\(error)".contains("/visits") && "\(error)".contains("title"))
        }
        await server.until { $0.subscriptionCounts == [0] }
        try await client.ping()
        client.close()
    }

    @Test("a path without a node is refused with the nearest path")
    func nowhere() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let error = await #expect(throws: ClientError.self) {
            try await client.mirror(Counter.self, at: "/visit")
        }
        guard case .refused(let refusal) = error else {
            Issue.record("expected a refusal, got \(String(describing: error))")
            return
        }
        #expect(refusal.code == .notFound && refusal.nearest == "/visits")
        client.close()
    }
}
