import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Drives ``ConnectionTransfer`` and ``ServerHandover``.
@Suite("Connections in another process")
struct ConnectionTransferTests {
    private static var root: ReactorGroup {
        ReactorGroup([
            ("visits", Tally()), ("other", Tally()), ("page", Page()), ("house", House()),
        ])
    }

    private let former: ServerHarness

    private static func visits(of harness: ServerHarness) -> Tally.State? {
        (harness.server.tree.node(at: SlicePath(["visits"])) as? Node<Tally>)?.state
    }

    init() throws {
        former = ServerHarness(try Past.recovery(Self.root, Past()))
        former.turn()
    }

    /// Hands over to a server of `root`, and moves the clients there.
    private func succeed(
        _ clients: [TestClient], with root: some Reactor = Self.root,
        asking asker: TestClient? = nil
    ) throws -> (harness: ServerHarness, taken: TakenConnections) {
        let handover = try former.handOver(asking: asker)
        let result = try ServerHarness.succeed(former, with: root, handover)
        for client in clients { client.move(to: result.harness) }
        return result
    }

    @Test("a subscriber gets the next delta, and nothing else, and a client the next outcome")
    func goesOn() throws {
        let (writer, watcher) = (former.start(), former.client())
        watcher.subscribe("/visits")
        writer.add(2)
        former.settle()
        _ = (writer.frames(), watcher.frames())
        let (harness, taken) = try succeed([writer, watcher])
        #expect(taken.count == 2 && taken.closedCount == 0)
        #expect(writer.frames().isEmpty)
        #expect(watcher.frames().isEmpty)
        writer.add(3)
        harness.settle()
        let log = try OutcomeLog(writer.frames())
        #expect(log[2]?.isApplied ?? false)
        let kinds = watcher.frames().map(\.kind)
        #expect(kinds == [.delta, .mark])
        // The next client and the next connection have other numbers.
        let next = harness.client()
        let welcome = try #require(next.frames(.welcome).first).decode(Welcome.self)
        #expect(welcome.client == 3 && welcome.connection == 3)
    }

    @Test("a frame that was cut at any byte is handled once its rest arrives")
    func cutFrames() throws {
        let frame = TestClient.frame(
            .dispatch, number: 1, Tally.Action.add(by: 1).wireBytes())
        var clients: [TestClient] = []
        for cut in 1..<frame.count {
            let client = former.start()
            client.send(Array(frame[..<cut]))
            clients.append(client)
        }
        let (harness, taken) = try succeed(clients)
        #expect(taken.closedCount == 0)
        for (client, cut) in zip(clients, 1..<frame.count) { client.send(Array(frame[cut...])) }
        harness.settle()
        for client in clients { #expect(try OutcomeLog(client.frames())[1]?.isApplied ?? false) }
        #expect(Self.visits(of: harness)?.count == clients.count)
    }

    @Test("a hello that was cut at any byte is answered once its rest arrives")
    func cutHellos() throws {
        let hello = TestClient.frame(.hello, number: Hello.magic, Hello().wireBytes())
        // Fewer at a time than may be without a hello.
        for start in stride(from: 0, to: hello.count, by: 50) {
            let cuts = Array(start..<min(start + 50, hello.count))
            let rig = try ConnectionTransferTests()
            let clients = cuts.map { cut in
                let client = rig.former.connect()
                client.send(Array(hello[..<cut]))
                return client
            }
            let (harness, taken) = try rig.succeed(clients)
            #expect(taken.closedCount == 0)
            for (client, cut) in zip(clients, cuts) { client.send(Array(hello[cut...])) }
            harness.settle()
            for client in clients { #expect(client.frames(.welcome).count == 1) }
        }
    }

    @Test("output that the client has not read is sent by the new process, from the next byte on")
    func unsentOutput() throws {
        for room in [0, 1, 19, 20, 21, 400, 5_000] {
            let rig = try ConnectionTransferTests()
            let (writer, watcher) = (rig.former.start(), rig.former.client())
            watcher.subscribe("/page", .value)
            rig.former.settle()
            _ = watcher.frames()
            watcher.take(room)
            for count in [100, 3_000, 200] {
                writer.dispatch(Page.Action.fill(count: count), to: 2)
            }
            rig.former.settle()
            for text in ["a", "b"] {
                writer.dispatch(Page.Action.title(text), to: 2)
                rig.former.settle()
            }
            let (harness, _) = try rig.succeed([writer, watcher])
            writer.dispatch(Page.Action.title("c"), to: 2)
            harness.settle()
            watcher.take()
            harness.settle()
            let frames = watcher.frames()
            #expect(!frames.contains { $0.kind == .lag })
            let numbers = frames.filter { $0.kind == .mark }.map(\.number)
            #expect(numbers == numbers.sorted() && numbers.last == 6)
            let values = try frames.filter { $0.kind == .value }.map {
                try $0.decode(Page.State.self)
            }
            #expect(values.map(\.title) == ["", "a", "b", "c"])
        }
    }

    @Test("what a connection owns stays owned, until its end in the new process")
    func ownership() throws {
        let (holder, gone) = (former.start(), former.start())
        holder.dispatch(Tally.Action.hold)
        former.settle()
        gone.dispatch(Tally.Action.hold)
        former.settle()
        let handover = try former.handOver()
        var part = handover
        part.connections.removeAll { $0.id == gone.id.rawValue }
        let (harness, _) = try ServerHarness.succeed(former, with: Self.root, part)
        holder.move(to: harness)
        func holders() -> Int? { Self.visits(of: harness)?.holders }
        #expect(holders() == 1)
        holder.disconnect()
        harness.settle()
        #expect(holders() == 0)
    }

    @Test("a deferred answer reaches the client, and a repeated action is not applied twice")
    func deferred() throws {
        let client = former.start()
        client.dispatch(Tally.Action.wait)
        client.add(4)
        former.settle()
        _ = client.frames()
        let (harness, _) = try succeed([client])
        client.dispatch(Tally.Action.add(by: 4), ordinal: 2)
        client.dispatch(Tally.Action.grant(value: 9), ordinal: 3)
        harness.settle()
        let log = try OutcomeLog(client.frames())
        guard case .applied(_, let reply, let ownerEnded)? = log[1] else {
            Issue.record("no answer")
            return
        }
        #expect(!ownerEnded && reply == WireEmbedded(9))
        #expect(log[2]?.isApplied ?? false)
        #expect(Self.visits(of: harness)?.count == 4)
    }

    @Test("a client that waits for effects learns that they are lost")
    func effects() throws {
        let client = former.start()
        client.send(
            .dispatch, flags: .awaited, number: 1, Tally.Action.work(by: 5).wireBytes())
        former.settle()
        #expect(client.frames(.done).isEmpty)
        let (harness, _) = try succeed([client])
        harness.settle()
        let frames = client.frames()
        #expect(frames.map(\.kind) == [.notice, .done])
        let notice = try #require(frames.first).decode(Notice.self)
        #expect(notice.code == FaultCode.effectsLost.rawValue)
    }

    @Test("patches of a value and of a selection continue")
    func values() throws {
        let writer = former.start()
        let ships = former.client()
        ships.subscribe("/house/rooms", selecting: Selection(first: 10))
        let page = former.client()
        page.subscribe("/page", .value, patches: true)
        writer.dispatch(House.Action.build(name: "a"), to: 3)
        former.settle()
        _ = (ships.frames(), page.frames())
        let (harness, taken) = try succeed([writer, ships, page])
        #expect(taken.closedCount == 0)
        #expect(ships.frames().isEmpty)
        #expect(page.frames().isEmpty)
        writer.dispatch(House.Action.build(name: "b"), to: 3)
        writer.dispatch(Page.Action.title("new"), to: 2)
        harness.settle()
        #expect(ships.frames().contains { $0.kind == .value })
        #expect(page.frames().contains { $0.kind == .value })
        // A further follower of the same slice shares it.
        let other = harness.client()
        other.subscribe("/page", .value)
        harness.settle()
        #expect(other.frames(.value).count == 1)
    }

    @Test("a connection that waits for an answer is closed with DRAINING, and may resume")
    func waiting() throws {
        let (client, asker) = (former.start(), former.client())
        client.ask(.log(path: "/", waits: true))
        former.settle()
        asker.ask(.restart())
        former.settle()
        let (harness, taken) = try succeed([client, asker], asking: asker)
        #expect(taken.count == 2 && taken.closedCount == 1)
        let closing = try #require(client.frames(.closing).first).decode(Closing.self)
        #expect(closing.code == .draining)
        let (connection, number) = try #require(taken.asker)
        #expect(connection == asker.id)
        harness.server.answer(
            number, of: connection,
            with: RestartReport(pid: 5, daemon: "test", connections: 2, closed: 1), at: harness.now)
        harness.settle()
        let report = try #require(asker.frames(.answer).first).decode(RestartReport.self)
        #expect(report.pid == 5)
    }

    @Test("P122: a connection that reads a large answer slowly is closed, and costs no copy of it")
    func largeAnswer() throws {
        for (byteCount, closedCount) in [(400_000, 0), (4_000_000, 1)] {
            let rig = try ConnectionTransferTests()
            let (writer, reader) = (rig.former.start(), rig.former.client())
            writer.dispatch(Page.Action.fill(count: byteCount), to: 2)
            rig.former.settle()
            _ = (writer.frames(), reader.frames())
            reader.take(100)
            reader.ask(.get(path: "/page"))
            rig.former.settle()
            let handover = try rig.former.handOver()
            let size = handover.wireBytes().count
            #expect(closedCount == 1 ? size < 500_000 : size > 200_000, "\(size) bytes")
            let (harness, taken) = try ServerHarness.succeed(
                rig.former, with: Self.root, handover)
            for client in [writer, reader] { client.move(to: harness) }
            #expect(taken.closedCount == closedCount)
            reader.take()
            harness.settle()
            #expect(reader.frames(.closing).count == closedCount)
        }
    }

    @Test("a user that has used its rate waits in the new process as well")
    func quotas() throws {
        var quota = UserQuota()
        quota.actions = TokenRate(3, in: 60_000_000_000)
        let rules = QuotaRules([QuotaRules.Rule(to: .anyone, quota)])
        former.server.apply(rules)
        let client = former.start()
        for _ in 0..<3 { client.add() }
        former.settle()
        #expect(former.server.throttled == [client.id])
        client.add()
        let (harness, taken) = try ServerHarness.succeed(
            former, with: Self.root, try former.handOver(), quotas: rules)
        client.move(to: harness)
        #expect(taken.closedCount == 0 && harness.server.throttled == [client.id])
        #expect(Self.visits(of: harness)?.count == 3)
        harness.now += 60_000_000_000
        harness.server.wake(at: harness.now)
        harness.settle()
        #expect(Self.visits(of: harness)?.count == 4)
    }

    @Test("with other types, a client of these types is closed, and others get new values")
    func types() throws {
        let (open, replica, value) = (former.start(), former.client(), former.client())
        replica.subscribe("/page")
        value.subscribe("/", .value)
        former.settle()
        _ = (replica.frames(), value.frames())
        let root = ReactorGroup([
            ("visits", Tally()), ("other", Tally()), ("page", Later.Page()), ("house", House()),
        ])
        let (harness, taken) = try succeed([open, replica, value], with: root)
        #expect(taken.closedCount == 2)
        harness.settle()
        #expect(open.frames().last?.kind == .closing)
        #expect(replica.frames().last?.kind == .closing)
        let kinds = value.frames().map(\.kind)
        #expect(kinds == [.lag, .value, .mark])
    }

    /// Holds a later version of a reactor, which the history knows by the same name.
    enum Later {
        /// Its state has another field.
        struct Page: Reactor {
            typealias Action = ReactorServerTests.Page.Action

            @WireCodable
            struct State: Sendable, Equatable {
                var title = ""
                var body = ""
                var pages = 0
            }

            var initialState: State { State() }

            func reduce(state: inout State, mutation: Action) { state.pages += 1 }
        }
    }
}
