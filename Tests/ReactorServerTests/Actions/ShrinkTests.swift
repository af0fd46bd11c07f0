import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Actions that a server accepts while the disk is full except for a reserve.
@Suite("a full disk with a reserve")
struct ShrinkTests {
    private func start() throws -> (harness: ServerHarness, client: TestClient) {
        var entries: Keyed<WireKey, WireValue> = [:]
        for index in 0..<50 { entries[WireKey("key\(index)")] = .text("value \(index)") }
        let tree = Tree(
            ReactorGroup([("ledger", Ledger(start: entries)), ("house", House())]), epoch: 7)
        let recovery = try Recovery(of: tree, limits: ServerLimits()).finish(epoch: 7, sequence: 0)
        let harness = ServerHarness(recovery, isReadOnly: true)
        harness.server.goOn(.shrinking)
        let client = harness.client()
        client.open("/ledger")
        harness.turn()
        _ = client.frames()
        return (harness, client)
    }

    private func stats(_ harness: ServerHarness, _ client: TestClient) throws -> [String: UInt64] {
        client.ask(.stats)
        harness.turn()
        return try #require(client.frames(.answer).first).decode([String: UInt64].self)
    }

    @Test("J58: an action that makes states smaller is applied, and every other is refused")
    func shrinks() throws {
        let (harness, client) = try start()
        let before = harness.server.tree.revision
        client.dispatch(Ledger.Action.put(key: "new", value: 1))
        client.dispatch(
            Ledger.Action.put(key: "key1", value: .text("as long as before, or longer")))
        client.dispatch(Ledger.Action.color("transparent"))
        client.dispatch(Ledger.Action.drop(key: "never there"))
        client.dispatch(Ledger.Action.cache)
        harness.turn()
        var log = try OutcomeLog(client.frames())
        for ordinal in 1...5 as ClosedRange<UInt64> {
            guard case .rejected(FaultCode.diskFull.rawValue, _)? = log[ordinal] else {
                Issue.record("action \(ordinal) became \(String(describing: log[ordinal]))")
                continue
            }
        }
        #expect(harness.server.tree.revision == before && harness.server.shrunkByteCount == 0)
        client.dispatch(Ledger.Action.drop(key: "key7"))
        client.dispatch(Ledger.Action.put(key: "key1", value: 1))
        client.dispatch(Ledger.Action.reset)
        harness.turn()
        log = try OutcomeLog(client.frames())
        for ordinal in 6...8 as ClosedRange<UInt64> { #expect(log[ordinal]?.isApplied == true) }
        #expect(harness.server.tree.revision.sequence == before.sequence + 3)
        #expect(harness.server.shrunkByteCount > 500)
        // The journal contains exactly the actions that were applied.
        #expect(harness.rows.last?.sequence == before.sequence + 3)
        #expect(harness.rows.last?.deltas.count ?? 0 > 0)
    }

    /// Restarts the server from the rows, with the session of a client.
    private func restart(
        _ harness: ServerHarness, _ client: TestClient
    ) throws -> (harness: ServerHarness, ordinal: UInt64, outcome: (UInt64) throws -> Outcome?) {
        let session = try #require(harness.server.connections[client.id]?.session?.secret)
        let tree = Tree(ReactorGroup([("ledger", Ledger()), ("house", House())]), epoch: 7)
        let recovery = Recovery(of: tree, limits: ServerLimits())
        for row in harness.rows { try recovery.replay(row) }
        let next = ServerHarness(
            try recovery.finish(epoch: 7, sequence: harness.rows.last?.sequence ?? 0))
        let back = next.client(session: session)
        let ordinal = try back.welcome().ordinal
        back.open("/ledger")
        return (
            next, ordinal,
            { number in
                back.dispatch(Ledger.Action.color("red"), ordinal: number)
                next.turn()
                return try OutcomeLog(back.frames())[number]
            }
        )
    }

    @Test("J58: an action refused for lack of room takes nothing of the reserve")
    func refusedAreNotKept() throws {
        let (harness, client) = try start()
        let count = harness.rows.count
        for index in 0..<100 {
            client.dispatch(
                Ledger.Action.put(key: "new", value: .text(String(repeating: "x", count: index))))
            harness.turn()
        }
        #expect(try OutcomeLog(client.frames())[100]?.code == FaultCode.diskFull.rawValue)
        #expect(harness.rows.count == count)
    }

    @Test("J58: a refused action is recorded once, with the next action that is applied")
    func refusedBeforeApplied() throws {
        let (harness, client) = try start()
        client.dispatch(Ledger.Action.put(key: "new", value: 1))
        client.dispatch(Ledger.Action.drop(key: "key7"))
        client.dispatch(Ledger.Action.put(key: "newer", value: 1))
        harness.turn()
        var (_, ordinal, outcome) = try restart(harness, client)
        #expect(ordinal == 2)
        #expect(try outcome(1)?.code == FaultCode.diskFull.rawValue)
        #expect(try outcome(2)?.isApplied == true)
        // This history has no outcome of the third action: the action is applied when it comes
        // again.
        #expect(try outcome(3)?.isApplied == true)
        harness.server.admitAll()
        harness.turn()
        (_, ordinal, outcome) = try restart(harness, client)
        #expect(ordinal == 3)
        #expect(try outcome(3)?.code == FaultCode.diskFull.rawValue)
    }

    @Test("J58: several actions count as one, by their total change of size")
    func batch() throws {
        let (harness, client) = try start()
        client.batch([
            (0, Ledger.Action.title("a longer title")), (0, Ledger.Action.drop(key: "key1")),
            (0, Ledger.Action.drop(key: "key2")),
        ])
        client.batch([
            (0, Ledger.Action.drop(key: "key3")),
            (0, Ledger.Action.title(String(repeating: "long", count: 50))),
        ])
        harness.turn()
        let log = try OutcomeLog(client.frames())
        #expect(log[1]?.isApplied == true)
        guard case .rejected(FaultCode.diskFull.rawValue, _)? = log[2] else {
            Issue.record("a batch that grows was carried out")
            return
        }
        let node = try #require(try harness.server.tree.node(at: SlicePath("/ledger")))
        var writer = WireWriter()
        node.encodeState(into: &writer)
        let state = try Ledger.State(wireBytes: writer.bytes)
        #expect(state.title == "a longer title" && state.entries["key3"] != nil)
    }

    @Test("J58: stats report that nothing may grow, and that everything may again")
    func told() throws {
        let (harness, client) = try start()
        var stats = try stats(harness, client)
        #expect(stats["readOnly"] == 1 && stats["shrinkOnly"] == 1)
        harness.server.admitAll()
        stats = try self.stats(harness, client)
        #expect(stats["readOnly"] == 0 && stats["shrinkOnly"] == 0)
        client.dispatch(Ledger.Action.put(key: "new", value: 1))
        harness.turn()
        #expect(try OutcomeLog(client.frames())[1]?.isApplied == true)
        let recovery = try Recovery(of: TestTree.make(), limits: ServerLimits())
            .finish(epoch: 7, sequence: 0)
        let full = ServerHarness(recovery, isReadOnly: true)
        stats = try self.stats(full, full.client())
        #expect(stats["readOnly"] == 1 && stats["shrinkOnly"] == 0)
    }

    @Test("J121: while growth is limited, growing actions are refused with the maximum's name")
    func limited() throws {
        let (harness, client) = try start()
        harness.server.admitAll()
        client.dispatch(Ledger.Action.put(key: "new", value: 1))
        var counts = ShellCounts()
        (counts.diskBytes, counts.diskBytesMax) = (9, 7)
        harness.server.setCounts(counts)
        harness.server.limitGrowth()
        #expect(harness.server.admission == .limited && !harness.server.isReadOnly)
        client.dispatch(Ledger.Action.put(key: "newer", value: 1))
        client.dispatch(Ledger.Action.drop(key: "new"))
        harness.turn()
        let log = try OutcomeLog(client.frames())
        #expect(log[1]?.isApplied == true && log[3]?.isApplied == true)
        let stats = try stats(harness, client)
        #expect(stats["readOnly"] == 1 && stats["shrinkOnly"] == 1 && stats["diskBytesMax"] == 7)
        harness.server.admitAll()
        client.dispatch(Ledger.Action.put(key: "newer", value: 1))
        harness.turn()
        #expect(try OutcomeLog(client.frames())[4]?.isApplied == true)
        guard case .rejected(FaultCode.diskFull.rawValue, let message)? = log[2] else {
            Issue.record("an action that grows was carried out")
            return
        }
        #expect(message.contains("data.bytesMax, 7 bytes"))
    }

    @Test("weighing a large state uses a client's share of the turn")
    func share() throws {
        let (harness, client) = try start()
        harness.server.admitAll()
        client.dispatch(Ledger.Action.blob(byteCount: 9 << 20))
        harness.turn()
        let recovery = Recovery(
            of: Tree(ReactorGroup([("ledger", Ledger()), ("house", House())]), epoch: 7),
            limits: ServerLimits())
        for row in harness.rows { try recovery.replay(row) }
        let end = try #require(harness.rows.last)
        let full = ServerHarness(
            try recovery.finish(epoch: 7, sequence: end.sequence), isReadOnly: true)
        full.server.goOn(.shrinking)
        let again = full.client()
        again.open("/ledger")
        full.turn()
        again.dispatch(Ledger.Action.title("no"))
        full.carryOut()
        #expect(again.socket.isPaused)
        full.settle()
        #expect(!again.socket.isPaused)
    }
}
