import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Drives ``StateCeiling`` through a server: what it counts, and which actions it admits.
@Suite("The maximum of all states")
struct StateCeilingTests {
    private static func root(_ entryCount: Int = 0) -> ReactorGroup {
        var entries: Keyed<WireKey, WireValue> = [:]
        for index in 0..<entryCount {
            entries[WireKey("key\(index)")] = .text("value \(index) " + text(50))
        }
        return ReactorGroup([("ledger", Ledger(start: entries)), ("house", House())])
    }

    private static func text(_ count: Int) -> String { String(repeating: "x", count: count) }

    private func start(
        entryCount: Int = 0, byteCountMax: Int = 6_400
    ) throws -> (harness: ServerHarness, client: TestClient) {
        var limits = ServerLimits()
        limits.stateBytesMax = .bytes(byteCountMax)
        let tree = Tree(Self.root(entryCount), epoch: 7)
        let harness = ServerHarness(
            try Recovery(of: tree, limits: limits).finish(epoch: 7, sequence: 0))
        let client = harness.client()
        client.open("/ledger")
        harness.turn()
        _ = client.frames()
        return (harness, client)
    }

    /// The encoded bytes of all states.
    private func heldByteCount(_ harness: ServerHarness) -> Int {
        var sum = 0
        harness.server.tree.forEachNode { node in
            var writer = WireWriter()
            node.encodeState(into: &writer)
            sum += node.isDerived ? 0 : writer.count
        }
        return sum
    }

    private func put(_ index: Int, _ byteCount: Int = 100) -> Ledger.Action {
        .put(key: WireKey("new\(index)"), value: .text(Self.text(byteCount)))
    }

    @Test("P77: at the ceiling, an action that adds bytes is refused, and one that removes passes")
    func full() throws {
        let (harness, client) = try start()
        for index in 0..<100 {
            client.dispatch(put(index))
            harness.turn()
        }
        var log = try OutcomeLog(client.frames())
        let appliedCount = (1...100).prefix { log[UInt64($0)]?.isApplied == true }.count
        #expect(harness.server.isStateFull && (50..<64).contains(appliedCount))
        let held = heldByteCount(harness)
        #expect((6_400..<6_400 + 6_400 / 64 + 200).contains(held))
        let revision = harness.server.tree.revision
        for ordinal in UInt64(appliedCount + 1)...100 {
            #expect(log[ordinal]?.code == FaultCode.memoryFull.rawValue)
        }
        guard case .rejected(_, let message)? = log[100] else {
            Issue.record("an action that grows was carried out")
            return
        }
        #expect(message.contains("stateBytesMax 6400 bytes"))
        // A transaction counts as a whole.
        client.batch([(0, Ledger.Action.drop(key: "new0")), (0, put(200, 300))])
        client.batch([(0, Ledger.Action.drop(key: "new0")), (0, put(201, 10))])
        harness.turn()
        log = try OutcomeLog(client.frames())
        #expect(log[101]?.code == FaultCode.memoryFull.rawValue && log[102]?.isApplied == true)
        #expect(harness.server.tree.revision.sequence == revision.sequence + 1)
        #expect(heldByteCount(harness) < held)
    }

    @Test("P77: once states have less than 95 % of the ceiling, actions that add bytes pass again")
    func leaves() throws {
        let (harness, client) = try start()
        for index in 0..<100 { client.dispatch(put(index)) }
        harness.turn()
        #expect(harness.server.isStateFull)
        var droppedCount = 0
        while harness.server.isStateFull, droppedCount < 10 {
            client.dispatch(Ledger.Action.drop(key: WireKey("new\(droppedCount)")))
            harness.turn()
            droppedCount += 1
        }
        #expect(!harness.server.isStateFull && heldByteCount(harness) < 6_400 / 20 * 19)
        client.dispatch(put(300, 10))
        harness.turn()
        let log = try OutcomeLog(client.frames())
        #expect(log[UInt64(101 + droppedCount)]?.isApplied == true)
    }

    @Test("deltas that replace values do not reach the ceiling, whatever their number")
    func replaces() throws {
        let (harness, client) = try start()
        for index in 0..<500 {
            client.dispatch(Ledger.Action.title(Self.text(100 + index % 3)))
            if index % 7 == 0 { harness.turn() }
        }
        harness.turn()
        #expect(!harness.server.isStateFull)
        let log = try OutcomeLog(client.frames())
        #expect((1...500).allSatisfy { log[$0]?.isApplied == true })
    }

    @Test("a tick measures what changed, so that the counter is exact then")
    func ticks() throws {
        let (harness, client) = try start(byteCountMax: 1 << 30)
        for index in 0..<20 { client.dispatch(put(index)) }
        client.dispatch(Ledger.Action.reset)
        harness.turn()
        let states = harness.server.states
        #expect(states.byteCount > heldByteCount(harness) + 1_000)
        harness.server.tick(at: harness.now)
        #expect(states.byteCount == heldByteCount(harness))
        #expect(states.differences() == [])
    }

    @Test("a tick leaves out a state that is larger than what ticks may encode")
    func largeState() throws {
        let (harness, client) = try start(byteCountMax: 1 << 30)
        client.dispatch(Ledger.Action.blob(byteCount: 1 << 20))
        harness.turn()
        let states = harness.server.states
        harness.server.tick(at: harness.now)
        // Its size was unknown, and small before.
        #expect(states.byteCount == heldByteCount(harness))
        client.dispatch(Ledger.Action.title("a title"))
        harness.turn()
        harness.server.tick(at: harness.now)
        #expect(states.byteCount > heldByteCount(harness))
        for _ in 0..<4 { harness.server.tick(at: harness.now) }
        #expect(states.byteCount == heldByteCount(harness))
    }

    @Test("the size of the largest state is a high estimate, and exact on request")
    func largest() throws {
        let (harness, client) = try start(byteCountMax: 1 << 30)
        let states = harness.server.states
        func largest() -> Int {
            var most = 0
            harness.server.tree.forEachNode { node in
                most = node.isDerived ? most : max(most, node.encodedByteCount)
            }
            return most
        }
        client.dispatch(Ledger.Action.blob(byteCount: 50_000))
        harness.turn()
        // The action's delta is small, so the next tick finds the size.
        harness.server.tick(at: harness.now)
        #expect(states.largestByteCount(isExact: false) >= largest())
        #expect(states.largestByteCount(isExact: true) == largest() && largest() > 50_000)
        // Deltas that replace a value count as growth until the next exact number.
        for _ in 0..<20 {
            client.dispatch(Ledger.Action.title(Self.text(3_000)))
            harness.turn()
        }
        #expect(states.largestByteCount(isExact: false) > largest() + 50_000)
        #expect(states.largestByteCount(isExact: true) == largest())
        client.dispatch(Ledger.Action.blob(byteCount: 0))
        harness.turn()
        #expect(states.largestByteCount(isExact: true) == largest() && largest() < 10_000)
        let uncounted = try start(byteCountMax: 0).harness.server.states
        #expect(uncounted.largestByteCount(isExact: true) == 0)
    }

    @Test("P77: a large state that the daemon itself has emptied admits growth after some ticks")
    func emptiedByDaemon() throws {
        let (harness, client) = try start(byteCountMax: 32 << 20)
        client.dispatch(Ledger.Action.blob(byteCount: 32 << 20))
        harness.turn()
        harness.server.tick(at: harness.now)
        #expect(harness.server.isStateFull)
        client.dispatch(put(1))
        harness.turn()
        #expect(try OutcomeLog(client.frames())[2]?.code == "MEMORY_FULL")
        let ledger = try #require(harness.server.tree.node(at: SlicePath(["ledger"])))
        let action = Ledger.Action.blob(byteCount: 0).wireBytes()
        _ = harness.server.tree.dispatch(to: ledger, action.span, by: .daemon, ordinal: 0)
        harness.turn()
        var tickCount = 0
        while harness.server.isStateFull, tickCount < 100 {
            harness.server.tick(at: harness.now)
            tickCount += 1
        }
        #expect(tickCount == 3, "a tick for each 16 MiB of states, and for a further part")
        client.dispatch(put(2))
        harness.turn()
        #expect(try OutcomeLog(client.frames())[3]?.isApplied ?? false)
    }

    @Test("the first states of new nodes count, and those of removed nodes do not")
    func nodes() throws {
        let (harness, client) = try start(byteCountMax: 1 << 30)
        client.open("/house", as: 1)
        harness.turn()
        for index in 0..<5 { client.dispatch(House.Action.build(name: "room\(index)"), to: 1) }
        harness.turn()
        let states = harness.server.states
        #expect(states.byteCount >= heldByteCount(harness))
        harness.server.tick(at: harness.now)
        #expect(states.byteCount == heldByteCount(harness))
        client.dispatch(House.Action.tear(name: "room1"), to: 1)
        harness.turn()
        harness.server.tick(at: harness.now)
        #expect(states.byteCount == heldByteCount(harness) && states.differences() == [])
    }

    @Test("P77: a start above the ceiling serves, and admits only what removes bytes")
    func startsAbove() throws {
        let (harness, client) = try start(entryCount: 10, byteCountMax: 1 << 20)
        for index in 0..<80 { client.dispatch(put(index)) }
        harness.turn()
        let held = heldByteCount(harness)
        var limits = ServerLimits()
        limits.stateBytesMax = .bytes(6_400)
        for isFromSnapshot in [false, true] {
            let recovery = Recovery(of: Tree(Self.root(10), epoch: 7), limits: limits)
            if isFromSnapshot {
                for part in harness.parts(of: try harness.beginSnapshot()) {
                    try recovery.restore(part)
                }
            } else {
                for row in harness.rows { try recovery.replay(row) }
            }
            let sequence = harness.server.tree.turn.sequence
            let next = ServerHarness(try recovery.finish(epoch: 7, sequence: sequence))
            #expect(next.server.isStateFull && next.server.states.byteCount >= held)
            let client = next.client()
            client.open("/ledger")
            client.dispatch(put(500))
            client.dispatch(Ledger.Action.drop(key: "new3"))
            next.turn()
            let log = try OutcomeLog(client.frames())
            #expect(log[1]?.code == FaultCode.memoryFull.rawValue && log[2]?.isApplied == true)
        }
    }

    @Test("P77: another ceiling applies at once, in either direction, and 0 bytes end it")
    func changes() throws {
        let (harness, client) = try start(byteCountMax: 0)
        #expect(harness.server.states.byteCount == 0)
        for index in 0..<100 { client.dispatch(put(index)) }
        harness.turn()
        func isApplied(at byteCountMax: Int) throws -> Bool {
            var limits = harness.server.limits
            limits.stateBytesMax = .bytes(byteCountMax)
            harness.server.setLimits(limits)
            client.dispatch(put(1_000 + byteCountMax))
            harness.turn()
            return try OutcomeLog(client.frames())[client.ordinal]?.isApplied == true
        }
        #expect(try !isApplied(at: 6_400))
        #expect(try isApplied(at: 64_000))
        #expect(try !isApplied(at: 3_200))
        #expect(try isApplied(at: 0))
        #expect(!harness.server.isStateFull)
    }

    @Test("stats have the bytes of all states and their maximum, where there is one")
    func stats() throws {
        func stats(_ byteCountMax: Int) throws -> [String: UInt64] {
            let (harness, client) = try start(entryCount: 50, byteCountMax: byteCountMax)
            client.ask(.stats)
            harness.turn()
            return try #require(client.frames(.answer).first).decode([String: UInt64].self)
        }
        let full = try stats(100)
        #expect(full["stateBytesMax"] == 100 && full["stateFull"] == 1)
        #expect(try #require(full["stateBytes"]) > 2_000)
        #expect(try stats(1 << 30)["stateFull"] == 0)
        #expect(try stats(0)["stateBytes"] == nil)
    }

    @Test("a share is of the other limit, and without that limit there is none")
    func shares() {
        var limits = ServerLimits()
        #expect(limits.stateByteCountMax == 0)
        limits.memoryMax = 1_000
        #expect(limits.stateByteCountMax == 500)
        limits.stateBytesMax = .bytes(7)
        #expect(limits.stateByteCountMax == 7)
        #expect(ByteShare.percent(100).byteCount(of: 64 << 40) <= 64 << 40)
    }
}
