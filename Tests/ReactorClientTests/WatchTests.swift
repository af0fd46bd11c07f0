import ReactorCore
import ReactorServer
import ReactorThreads
import StockReactors
import Testing

@testable import ReactorClient

@Suite("Watch", .timeLimit(.minutes(10)))
struct WatchTests {
    private typealias Counter = StockReactors.Counter

    /// An iterator over the values of `watch`.
    private func values(_ watch: Watch) -> Watch.Iterator { watch.makeAsyncIterator() }

    @Test("a watch yields the value at a path and then each change, with its revision")
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

    @Test("a reader that sends an action at its first value reads the result")
    func actingAtOnce() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        var seen: [WireValue?] = []
        for try await (_, value) in client.watch("/visits/count") {
            if value == 0 {
                _ = try await client.dispatch("/visits", Counter.Action.increment(by: 1))
            }
            seen.append(value)
            if seen.count == 2 { break }
        }
        #expect(seen == [0, 1])
        client.close()
    }

    @Test("a path without a node yields nil until there is one")
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

    @Test("a path that can never have a value is refused with the nearest path")
    func nowhere() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        var nowhere = values(client.watch("/visit"))
        do {
            _ = try await nowhere.next()
            Issue.record("there is a node at /visit")
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

    @Test("the last reader that ends also ends the subscription")
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

    @Test("a path that is watched again before the daemon's answer is followed")
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
        #expect(try feeds[1].state.withLock { $0.held }.value() == 3)
    }

    @Test("a watch continues across a restart of the daemon")
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

    @Test("F53: a new subscriber first gets the current value, without a change")
    func replay() async throws {
        let server = try LiveServer(Album(pageCount: 3))
        let client = try await Client.connect(to: server.path)
        _ = try await client.dispatch("/", Album.Action.title("before"))
        var values = values(client.watch("/"))
        #expect(try await values.next()?.value?["title"] == "before")
        let album = try await client.mirror(Album(pageCount: 3), at: "/")
        var titles = album.states(\.title).makeAsyncIterator()
        #expect(await titles.next() == "before")
        client.close()
    }
}

// MARK: - Patches
extension WatchTests {
    /// A client that watches an album of many pages, and another that writes to it.
    private func pair(_ pageCount: Int = 100) throws -> (
        rig: Rig, reader: Rig.Joined, feed: WatchFeed, write: (Album.Action) throws -> Void
    ) {
        let rig = Rig(tree: Tree(Album(pageCount: pageCount), epoch: 7))
        let reader = rig.client()
        let writer = rig.client()
        let node = try writer.open("/", rig)
        let feed = WatchFeed(onEnd: {})
        reader.machine.follow("/", .value, WatchSink(1, feed))
        rig.run()
        return (
            rig, reader, feed,
            { action in
                try writer.machine.dispatch(action, to: node)
                rig.run()
            }
        )
    }

    private func value(_ rig: Rig) throws -> WireValue {
        var writer = WireWriter()
        rig.server.tree.root.encodeValue(into: &writer)
        return try WireValue(wireBytes: writer.bytes)
    }

    @Test("F58: a watch requests patches, and makes the daemon's value of them")
    func patches() throws {
        let (rig, reader, feed, write) = try pair()
        var sizes: [Int] = []
        reader.onDown = { frames in
            sizes += frames.filter { $0.kind == .value }.map(\.body.count)
            return frames.bytes
        }
        for action: Album.Action in [
            .put(key: "new", value: 5), .drop(key: "page7"), .title("x"), .alert("y"), .noise(3),
            .put(key: "new", value: 6),
        ] {
            try write(action)
            #expect(try feed.state.withLock { $0.held }.value() == value(rig), "\(action)")
        }
        #expect(sizes.count == 6 && sizes.allSatisfy { $0 < 60 })
    }

    @Test("F54: a patch that changes nothing yields no new value")
    func samePatch() throws {
        let (_, _, feed, write) = try pair()
        try write(.put(key: "page3", value: 33))
        let count = feed.state.withLock { $0.count }
        try write(.put(key: "page3", value: 33))
        #expect(feed.state.withLock { $0.count } == count)
        try write(.put(key: "page3", value: 34))
        #expect(feed.state.withLock { $0.count } == count + 1)
    }

    @Test("patches continue after a lost connection, whether the value has changed or not")
    func lostConnection() throws {
        let (rig, reader, feed, write) = try pair()
        try write(.count(1))
        rig.cut(reader)
        rig.run()
        try write(.count(2))
        #expect(try feed.state.withLock { $0.held }.value() == value(rig))
        rig.cut(reader)
        try write(.count(3))
        try write(.put(key: "a", value: 4))
        #expect(try feed.state.withLock { $0.held }.value() == value(rig))
    }

    @Test("a new reader of a watched path gets its own value, with a patch on the way or without")
    func joining() throws {
        let (rig, reader, feed, write) = try pair()
        try write(.count(1))
        let late = WatchFeed(onEnd: {})
        reader.machine.follow("/", .value, WatchSink(2, late))
        #expect(late.state.withLock { $0.count } == 0)
        try write(.count(2))
        try write(.put(key: "b", value: 1))
        for feed in [feed, late] {
            #expect(try feed.state.withLock { $0.held }.value() == value(rig))
        }
    }

    @Test("C94: a patch without a base value ends the connection, and then a value comes")
    func badPatch() throws {
        let (rig, reader, feed, write) = try pair()
        var isSpoiled = false
        reader.onDown = { frames in
            var frames = frames
            for index in frames.indices
            where frames[index].header.flags.contains(.patch) && !isSpoiled {
                isSpoiled = true
                var patch = PatchWriter()
                patch.append(["nowhere", "at", "all"]) { _ in .absent }
                frames[index] = Frame(frames[index].header, patch.bytes)
            }
            return frames.bytes
        }
        try write(.count(5))
        rig.run()
        #expect(isSpoiled && reader.connectCount == 2)
        #expect(try feed.state.withLock { $0.held }.value() == value(rig))
        try write(.count(6))
        #expect(try feed.state.withLock { $0.held }.value() == value(rig))
    }

    @Test(
        "a typed mirror that follows the value gets whole ones, beside a watch of the same path")
    func typed() throws {
        let (rig, reader, _, write) = try pair(3)
        var result: Result<ValueMirror<Album.State>, ClientError>?
        reader.machine.mirror(value: Album.State.self, at: "/") { result = $0 }
        try write(.count(8))
        try write(.put(key: "z", value: 1))
        let shown = try #require(try result?.get()).value
        #expect(shown.count == 8 && shown.pages["z"] == 1)
        _ = rig
    }

    @Test("joining a watched slice before a new connection's answer causes no fault")
    func joinsEarly() throws {
        let rig = Rig()
        let client = rig.client()
        let feeds = [WatchFeed {}, WatchFeed {}]
        client.machine.follow("/visits", .value, WatchSink(1, feeds[0]))
        rig.run()
        client.machine.onPhase = { [unowned client] phase in
            guard phase == .live else { return }
            client.machine.onPhase = nil
            client.machine.follow("/visits", .value, WatchSink(2, feeds[1]))
        }
        rig.cut(client)
        rig.run()
        #expect(client.connectCount == 2)
        #expect(feeds.allSatisfy { $0.state.withLock { $0.revision != nil && $0.error == nil } })
        #expect(feeds.map { $0.state.withLock { $0.count } } == [1, 1])
    }
}
