import ReactorBytes
import ReactorCore
import ReactorWire
import Synchronization
import Testing

@testable import ReactorServer

/// Subscriptions: their start, their updates, their end.
struct SliceTests {
    private let harness = ServerHarness()

    // [WIRE-8-6]
    @Test("a replica starts with a snapshot, then gets every mutation, each turn ending in a mark")
    func replica() throws {
        let (writer, reader) = (harness.start(), harness.start())
        var mirror = PlainMirror()
        writer.add(3)
        harness.turn()
        reader.follow("/visits", in: &mirror)
        harness.turn()
        let first = reader.frames()
        #expect(first.map(\.kind) == [.subscribed, .snapshot, .mark])
        #expect(try first[0].decode(Subscribed.self).start == .snapshot)
        try mirror.take(first)
        writer.add(4)
        writer.add(5)
        writer.add(1, to: 1)
        harness.turn()
        let second = reader.frames()
        #expect(second.map(\.kind) == [.delta, .delta, .mark])
        #expect(second.map(\.number) == [2, 3, 4])
        try mirror.take(second)
        #expect(mirror.tally("/visits") == Tally.State(count: 12))
    }

    // [WIRE-8-2]
    @Test("a client that subscribes again to a slice has it once, as the last request says")
    func again() throws {
        let (writer, reader) = (harness.start(), harness.start())
        reader.subscribe("/visits", .value)
        reader.subscribe("/visits", .value)
        reader.subscribe("/visits", .replica)
        harness.turn()
        let first = reader.frames()
        let subscribed = first.filter { $0.kind == .subscribed }
        #expect(subscribed.map(\.number).count == 3)
        #expect(subscribed[0].id == subscribed[1].id && subscribed[0].id != subscribed[2].id)
        #expect(first.filter { $0.kind == .value }.count == 1)
        #expect(harness.server.memory.subscriptions == 2)
        writer.add(1)
        harness.turn()
        #expect(reader.frames().map(\.kind) == [.value, .delta, .mark])
        reader.send(.unsubscribe, id: subscribed[0].id)
        writer.add(1)
        harness.turn()
        #expect(reader.frames().map(\.kind) == [.delta, .mark])
    }

    // [WIRE-8-8]
    @Test("a delta names its origin by public number and ordinal, never by secret")
    func origin() throws {
        let (writer, reader) = (harness.start(), harness.start())
        reader.subscribe("/visits")
        harness.turn()
        _ = reader.frames()
        writer.dispatch(Tally.Action.add(by: 1), ordinal: 77)
        harness.turn()
        let delta = reader.frames(.delta)[0]
        var cursor = WireCursor()
        #expect(try Origin.decode(delta.body.span, &cursor) == Origin(client: 1, ordinal: 77))
    }

    @Test("all subscribers get the same bytes as the batch")
    func sharedBytes() {
        let writer = harness.start()
        let readers = (0..<3).map { _ in harness.start() }
        for reader in readers { reader.subscribe("/visits") }
        harness.turn()
        for reader in readers { _ = reader.frames() }
        let before = readers.map(\.socket.received.count)
        writer.add(4)
        writer.add(1, to: 1)
        writer.add(5)
        harness.turn()
        let batch = harness.batches.last?.deltas
        let all = batch.map { Array($0.storage[$0.range]) } ?? []
        var offset = 0
        let deltas = TestClient.parse(all, from: &offset)
        #expect(deltas.map(\.number) == [1, 2, 3])
        let visits = deltas.filter { $0.id == deltas[0].id }
        for (reader, start) in zip(readers, before) {
            var place = start
            let got = TestClient.parse(reader.socket.received, from: &place)
            #expect(got.filter { $0.kind == .delta } == visits)
        }
    }

    // [WIRE-8-10]
    @Test("two slices of one connection advance together: deltas of both, then one mark")
    func together() throws {
        let (writer, reader) = (harness.start(), harness.start())
        reader.subscribe("/visits")
        reader.subscribe("/other")
        reader.subscribe("/page/title", .value)
        harness.turn()
        _ = reader.frames()
        writer.batch([
            (0, Tally.Action.add(by: 1)), (1, Tally.Action.add(by: 2)),
            (2, Page.Action.title("both")),
        ])
        harness.turn()
        let frames = reader.frames()
        #expect(frames.filter { $0.kind == .delta }.map(\.number) == [1, 1])
        #expect(frames.filter { $0.kind == .value }.count == 1)
        #expect(frames.filter { $0.kind == .mark }.map(\.number) == [1])
        #expect(frames.last?.kind == .mark)
    }

    // [WIRE-9-1]
    @Test("an outcome comes after the delta and the mark of its change")
    func outcomeBehindDelta() {
        let client = harness.start()
        client.subscribe("/visits")
        harness.turn()
        _ = client.frames()
        client.add(1)
        harness.turn()
        #expect(client.frames().map(\.kind) == [.delta, .mark, .applied])
    }

    // [WIRE-8-3]
    @Test("a field's slice is sent when that field changed, and only then")
    func fields() throws {
        let (writer, reader) = (harness.start(), harness.start())
        reader.subscribe("/page/title", .value)
        harness.turn()
        let first = reader.frames()
        #expect(try first.first { $0.kind == .value }?.decode(String.self) == "")
        writer.dispatch(Page.Action.body("one"), to: 2)
        harness.turn()
        #expect(reader.frames(.value).isEmpty)
        writer.dispatch(Page.Action.title("two"), to: 2)
        writer.dispatch(Page.Action.title("three"), to: 2)
        harness.turn()
        let changed = reader.frames(.value)
        #expect(try changed.map { try $0.decode(String.self) } == ["three"])
        writer.dispatch(Page.Action.title("three"), to: 2)
        harness.turn()
        #expect(reader.frames(.value).isEmpty)
    }

    @Test("the value of a parent contains its children, and changes with them")
    func composed() throws {
        let (writer, reader) = (harness.start(), harness.start())
        reader.subscribe("/", .value)
        harness.turn()
        _ = reader.frames()
        writer.add(7)
        harness.turn()
        let value = try #require(reader.frames(.value).last).decode(WireValue.self)
        #expect(value["visits"]?["count"]?.intValue == 7)
        #expect(value["other"]?["count"]?.intValue == 0)
    }

    // [WIRE-8-9]
    @Test("a value above 64 KiB comes in parts, which joined are the value")
    func parts() throws {
        let (writer, reader) = (harness.start(), harness.start())
        writer.dispatch(Page.Action.fill(count: 200_000), to: 2)
        reader.subscribe("/page/body", .value)
        reader.subscribe("/page")
        reader.ask(.get(path: "/page/body"))
        harness.turn()
        let frames = reader.frames()
        for kind in [FrameKind.value, .snapshot, .answer] {
            let parts = frames.filter { $0.kind == kind }
            #expect(parts.count == 4)
            #expect(parts.map { $0.flags.contains(.more) } == [true, true, true, false])
            #expect(parts.allSatisfy { $0.body.count <= 64 << 10 })
        }
        let bytes = frames.filter { $0.kind == .value }.flatMap(\.body)
        #expect(try String(wireBytes: bytes).utf8.count == 200_000)
    }

    // [WIRE-6-2] [WIRE-11-1]
    @Test("W29: a path without a node is NOT_FOUND with the nearest name, for every request")
    func notFound() throws {
        let client = harness.start()
        client.subscribe("/vists")
        client.open("/team", as: 9)
        client.ask(.get(path: "/page/titel"))
        client.subscribe("/page/title", .replica)
        client.subscribe("page")
        harness.turn()
        let refusals = try client.frames(.refused).map { try $0.decode(Refusal.self) }
        #expect(refusals.map(\.code) == [.notFound, .notFound, .notFound, .path, .path])
        #expect(refusals[0].nearest == "/visits")
        #expect(harness.server.tree.node(at: try SlicePath("/visits"))?.isReplicated == false)
    }

    // [WIRE-8-1]
    @Test(
        "W29: a replica of a missing child is NOT_FOUND; its value is absent until it is created")
    func absentChild() throws {
        let (writer, reader) = (harness.start(), harness.start())
        reader.subscribe("/house/rooms/a")
        reader.subscribe("/house/rooms/a/count", .value)
        harness.turn()
        let frames = reader.frames()
        #expect(try frames.first?.decode(Refusal.self).code == .notFound)
        #expect(frames.first { $0.kind == .value }?.flags == .absent)
        writer.dispatch(House.Action.build(name: "a"), to: 3)
        harness.turn()
        #expect(try reader.frames(.value).last?.decode(Int.self) == 0)
    }

    // [WIRE-8-12]
    @Test("W29: a slice of a removed child is gone, and leaves nothing behind")
    func gone() throws {
        let (writer, reader) = (harness.start(), harness.start())
        writer.dispatch(House.Action.build(name: "a"), to: 3)
        harness.turn()
        writer.open("/house/rooms/a", as: 5)
        reader.subscribe("/house/rooms/a")
        reader.subscribe("/house/rooms/a/count", .value)
        harness.turn()
        let ids = Set(reader.frames(.subscribed).map(\.id))
        #expect(ids.count == 2)
        writer.add(1, to: 5)
        writer.dispatch(House.Action.tear(name: "a"), to: 3)
        harness.turn()
        let frames = reader.frames()
        #expect(Set(frames.filter { $0.kind == .gone }.map(\.id)) == ids)
        #expect(!frames.contains { $0.kind == .delta || $0.kind == .value })
        writer.dispatch(House.Action.build(name: "a"), to: 3)
        writer.add(1, to: 5)
        harness.turn()
        #expect(reader.frames(.delta).isEmpty)
        #expect(try OutcomeLog(writer.frames())[5]?.code == "NOT_FOUND")
        #expect(try counter("slices") == 0)
    }

    // [WIRE-8-7]
    @Test(
        "W29: a replica of a collection gets the present keys, then created and removed ones")
    func collection() throws {
        let (writer, reader) = (harness.start(), harness.start())
        for name in ["bb", "a"] { writer.dispatch(House.Action.build(name: name), to: 3) }
        harness.turn()
        reader.subscribe("/house/rooms")
        writer.dispatch(House.Action.build(name: "c"), to: 3)
        harness.turn()
        var frames = reader.frames()
        #expect(frames.map(\.kind) == [.subscribed, .snapshot, .mark])
        let value = try frames[1].decode(WireValue.self)
        #expect(value == ["keys": ["a", "c", "bb"]])
        writer.dispatch(House.Action.tear(name: "a"), to: 3)
        writer.dispatch(House.Action.build(name: "d"), to: 3)
        harness.turn()
        frames = reader.frames()
        #expect(frames.map(\.kind) == [.delta, .delta, .mark])
        let changes = try frames.dropLast().map { frame in
            #expect(frame.flags == .structural)
            var cursor = WireCursor()
            _ = try Origin.decode(frame.body.span, &cursor)
            return try StructuralChange.decode(frame.body.span, &cursor)
        }
        #expect(changes.first == .remove(key: "a"))
        guard case .create(key: "d", let number, _)? = changes.last else {
            Issue.record("expected that d came, got \(changes)")
            return
        }
        #expect(harness.server.tree.node(number)?.path.description == "/house/rooms/d")
        let late = harness.start()
        late.subscribe("/house/rooms")
        harness.turn()
        let now = try #require(late.frames(.snapshot).first).decode(WireValue.self)
        #expect(now == ["keys": ["c", "d", "bb"]])
    }

    /// A counter of the server, requested over the wire.
    private func counter(_ name: String) throws -> UInt64 {
        try #require(try counters(name)[name])
    }

    private func counters(_ names: String...) throws -> [String: UInt64] {
        let client = harness.client()
        client.ask(.stats)
        harness.turn()
        let answer = try #require(client.frames(.answer).first)
        let all = try answer.decode([String: UInt64].self)
        client.disconnect()
        return all.filter { names.contains($0.key) }
    }

    @Test("W28: subscribing and leaving 5,000 times leaves nothing behind, at any time")
    func churn() throws {
        let client = harness.start()
        let visits = try #require(harness.server.tree.node(at: try SlicePath("/visits"))).number
        var after: [[String: UInt64]] = []
        for round in 1...5_000 {
            if round % 5 == 0 {
                // A client may leave a slice in the turn in which it asked for it.
                client.subscribe("/visits")
                client.send(.unsubscribe, id: visits)
                harness.turn()
                _ = client.frames()
            } else {
                let mode: SubscriptionMode = round % 3 == 0 ? .value : .replica
                client.subscribe(round % 2 == 0 ? "/visits" : "/page", mode)
                harness.turn()
                client.send(.unsubscribe, id: try #require(client.frames(.subscribed).first?.id))
            }
            guard round % 500 == 0 else { continue }
            harness.turn()
            after.append(try counters("slices", "subscriptions", "snapshotBytes", "keptBytes"))
        }
        #expect(Set(after).count == 1, "\(after)")
        #expect(after.first?["slices"] == 0 && after.first?["snapshotBytes"] == 0)
        client.subscribe("/visits/count", .value)
        harness.turn()
        #expect(try counter("slices") == 1)
        client.disconnect()
        #expect(try counter("slices") == 0)
        for path in ["/visits", "/page"] {
            let node = try #require(harness.server.tree.node(at: try SlicePath(path)))
            #expect(!node.isReplicated && !node.isWatched)
        }
    }

    @Test("W28: whether a path leads to a value is decided without encoding the value")
    func probe() throws {
        let harness = ServerHarness(Tree(Heavy(), epoch: 7))
        let client = harness.client()
        Heavy.Load.encodings.withLock { $0 = 0 }
        for _ in 0..<100 { client.subscribe("/load", .value) }
        client.open("/load")
        client.ask(.describe(path: "/load"))
        #expect(Heavy.Load.encodings.withLock(\.self) == 0)
        harness.turn()
        #expect(Heavy.Load.encodings.withLock(\.self) == 1)
        client.ask(.get(path: "/load"))
        harness.turn()
        #expect(Heavy.Load.encodings.withLock(\.self) == 2)
    }

    @Test("W27: subscriptions beyond the limit are refused with QUOTA, and leaving makes room")
    func quota() throws {
        let harness = ServerHarness { $0.subscriptionsPerConnectionMax = 2 }
        let client = harness.start()
        client.subscribe("/visits")
        client.subscribe("/other")
        client.subscribe("/page")
        harness.turn()
        var frames = client.frames()
        #expect(try frames.first { $0.kind == .refused }?.decode(Refusal.self).code == .quota)
        client.send(.unsubscribe, id: try #require(frames.first { $0.kind == .subscribed }?.id))
        client.subscribe("/page")
        harness.turn()
        frames = client.frames()
        #expect(frames.contains { $0.kind == .subscribed })
    }

    @Test("W27: a uid has a limit of subscriptions, on however many connections")
    func quotaOfUser() throws {
        let harness = ServerHarness { $0.subscriptionsPerUIDMax = 5 }
        let paths = ["/visits", "/other", "/page"]
        let (first, second) = (harness.start(), harness.start())
        for path in paths { first.subscribe(path) }
        // A second request for the same slice does not count as another subscription.
        first.subscribe("/visits")
        for path in paths { second.subscribe(path) }
        harness.turn()
        #expect(first.frames(.refused).isEmpty)
        let refusal = try #require(second.frames(.refused).first).decode(Refusal.self)
        #expect(refusal.code == .quota)
        #expect(refusal.message.contains("subscriptionsPerUIDMax 5"))
        let stranger = harness.client(uid: 6)
        stranger.subscribe("/visits")
        harness.turn()
        #expect(stranger.frames(.subscribed).count == 1)
        first.disconnect()
        second.subscribe("/page")
        harness.turn()
        #expect(second.frames(.subscribed).count == 1)
        #expect(harness.server.memory.subscriptions == 4)
    }

    @Test("W27: slices of removed nodes and of closed connections no longer count")
    func quotaGivenBack() throws {
        let (writer, reader) = (harness.start(), harness.start())
        writer.dispatch(House.Action.build(name: "a"), to: 3)
        harness.turn()
        for path in ["/house/rooms/a", "/visits", "/page"] { reader.subscribe(path) }
        harness.turn()
        #expect(harness.server.memory.subscriptions == 3)
        writer.dispatch(House.Action.tear(name: "a"), to: 3)
        harness.turn()
        #expect(harness.server.memory.subscriptions == 2)
        reader.send(.goodbye)
        harness.settle()
        #expect(harness.server.memory.subscriptions == 0)
    }

    @Test("W30: many subscribers of one slice share one encoded snapshot per change")
    func sharedSnapshot() throws {
        let writer = harness.start()
        writer.dispatch(Page.Action.fill(count: 100_000), to: 2)
        let readers = (0..<20).map { _ in harness.start() }
        for reader in readers { reader.subscribe("/page") }
        harness.turn()
        #expect(harness.server.statistics.snapshotsEncoded == 1)
        let late = harness.start()
        late.subscribe("/page")
        harness.turn()
        #expect(harness.server.statistics.snapshotsEncoded == 1)
        writer.dispatch(Page.Action.title("new"), to: 2)
        let last = harness.start()
        last.subscribe("/page")
        harness.turn()
        #expect(harness.server.statistics.snapshotsEncoded == 2)
        // A client of another history needs another flag, and there may be many such clients too.
        for reader in (0..<5).map({ _ in harness.start() }) {
            reader.subscribe("/page", from: Revision(epoch: 1, sequence: 1))
        }
        harness.turn()
        #expect(harness.server.statistics.snapshotsEncoded == 3)
    }

    @Test("an idle subscriber gets a mark at a tick, and only if it is news")
    func idleMarks() throws {
        let (writer, reader) = (harness.start(), harness.start())
        reader.subscribe("/page")
        harness.turn()
        _ = reader.frames()
        writer.add(1)
        harness.turn()
        #expect(reader.frames().isEmpty)
        harness.server.tick(at: harness.now)
        harness.settle()
        #expect(reader.frames().map(\.number) == [1])
        harness.server.tick(at: harness.now)
        harness.settle()
        #expect(reader.frames().isEmpty)
    }
}
