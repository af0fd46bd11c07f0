import ReactorCore
import ReactorThreads
import StockReactors
import Testing

@testable import ReactorClient

@Suite("Watch", .timeLimit(.minutes(1)))
struct WatchTests {
    private typealias Counter = StockReactors.Counter

    /// The values that `watch` gives, one after the other.
    private func values(_ watch: Watch) -> Watch.Iterator { watch.makeAsyncIterator() }

    @Test("it gives the value at a path and then each change, with its revision")
    func changes() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        var counts = values(client.watch("/visits/count"))
        #expect(try await counts.next()?.value == 0)
        let outcome = try await client.dispatch("/visits", Counter.Action.increment(by: 6))
        let change = try await counts.next()
        #expect(change?.value == 6 && change?.revision == outcome.revision)
        client.close()
    }

    @Test("a path at which nothing stands yet is nil until something does")
    func absence() async throws {
        let server = try LiveServer(StockReactors.Map())
        let client = try await Client.connect(to: server.path)
        var entries = values(client.watch("/entries/theme"))
        let nothing = try await entries.next()
        #expect(nothing != nil && nothing?.value == nil)
        _ = try await client.dispatch("/", Map.Action.set(key: "theme", value: "dark"))
        #expect(try await entries.next()?.value == "dark")
        _ = try await client.dispatch("/", Map.Action.remove(key: "theme"))
        let gone = try await entries.next()
        #expect(gone != nil && gone?.value == nil)
        client.close()
    }

    @Test("a path that leads nowhere is refused with the nearest one")
    func nowhere() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        var nowhere = values(client.watch("/visit"))
        do {
            _ = try await nowhere.next()
            Issue.record("something stands at /visit")
        } catch .refused(let refusal) {
            #expect(refusal.code == .notFound && refusal.nearest == "/visits")
        }
        client.close()
    }

    @Test("the end of the client is an error, after the last value")
    func end() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let watch = client.watch("/visits/count")
        var counts = values(watch)
        #expect(try await counts.next()?.value == 0)
        _ = try await client.dispatch("/visits", Counter.Action.increment(by: 1))
        client.close()
        #expect(try await counts.next()?.value == 1)
        await #expect(throws: ClientError.ended) { _ = try await counts.next() }
        var later = values(client.watch("/visits/count"))
        await #expect(throws: ClientError.ended) { _ = try await later.next() }
    }

    @Test("each reader starts with the current value, and a slow one gets the latest")
    func readers() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let watch = client.watch("/visits/count")
        var first = values(watch)
        #expect(try await first.next()?.value == 0)
        for _ in 0..<5 { _ = try await client.dispatch("/visits", Counter.Action.increment(by: 1)) }
        var second = values(watch)
        #expect(try await second.next()?.value == 5)
        #expect(try await first.next()?.value == 5)
        client.close()
    }

    @Test("the daemon is told when nobody watches any more")
    func release() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        do {
            var counts = values(client.watch("/visits/count"))
            _ = try await counts.next()
            #expect(await server.subscriptionCounts() == [1])
        }
        await server.until { $0.subscriptionCounts == [0] }
        client.close()
    }

    @Test("a path that is watched again before the daemon answered is followed")
    func again() throws {
        let rig = Rig()
        let client = rig.client()
        let node = try client.open("/visits", rig)
        let feeds = [WatchFeed(onEnd: {}), WatchFeed(onEnd: {})]
        client.machine.follow("/visits/count", .value, WatchSink(1, feeds[0]))
        client.machine.leave(watch: 1)
        client.machine.follow("/visits/count", .value, WatchSink(2, feeds[1]))
        rig.run()
        try client.machine.dispatch(Counter.Action.increment(by: 3), to: node)
        rig.run()
        #expect(feeds[0].state.withLock { $0.count } == 0)
        #expect(feeds[1].state.withLock { $0.bytes } == [3])
    }

    @Test("it goes on across a restart of the daemon")
    func restart() async throws {
        let first = try LiveServer()
        let client = try await Client.connect(to: first.path, options: .brisk)
        var counts = values(client.watch("/visits/count"))
        _ = try await client.dispatch("/visits", Counter.Action.increment(by: 1))
        while try await counts.next()?.value != 1 {}
        first.stop()
        let second = try LiveServer(in: first.folder, epoch: 8)
        let change = try await counts.next()
        #expect(change?.value == 0 && change?.revision == Revision(epoch: 8, sequence: 0))
        client.close()
        second.stop()
    }
}
