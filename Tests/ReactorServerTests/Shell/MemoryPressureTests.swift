import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Drives ``MemoryPressure``, ``MemoryRelief`` and ``ConnectionDeadlines``.
@Suite("The memory ceiling")
struct MemoryPressureTests {
    @Test(
        "a level begins at its share of the ceiling, and ends 5 % below it",
        arguments: [
            (MemoryPressure.none, 89, MemoryPressure.none), (.none, 90, .high), (.none, 100, .full),
            (.high, 85, .high), (.high, 84, .none), (.high, 100, .full), (.full, 95, .full),
            (.full, 94, .high), (.full, 84, .none),
        ])
    func levels(former: MemoryPressure, used: Int, next: MemoryPressure) {
        #expect(former.next(used: used, max: 100) == next)
        #expect(former.next(used: used << 40, max: 100 << 40) == next)
        #expect(former.next(used: used, max: 0) == .none)
    }

    private func start(memoryMax: Int = 1 << 30) -> ServerHarness {
        var entries: Keyed<WireKey, WireValue> = [:]
        for index in 0..<50 { entries[WireKey("key\(index)")] = .text("value \(index)") }
        let tree = Tree(ReactorGroup([("ledger", Ledger(start: entries))]), epoch: 7)
        return ServerHarness(tree, ownerUID: 0) { $0.memoryMax = memoryMax }
    }

    @Test("at the ceiling, an action that makes states larger is refused, and others pass")
    func full() throws {
        let harness = start()
        let client = harness.client()
        client.open("/ledger")
        harness.turn()
        harness.server.relieve(.full, at: 0)
        client.dispatch(Ledger.Action.put(key: "new", value: 1))
        client.dispatch(Ledger.Action.drop(key: "key7"))
        harness.turn()
        harness.server.relieve(.high, at: 0)
        client.dispatch(Ledger.Action.put(key: "new", value: 1))
        harness.turn()
        let log = try OutcomeLog(client.frames())
        #expect(log[1]?.code == FaultCode.memoryFull.rawValue)
        #expect(log[2]?.isApplied == true && log[3]?.isApplied == true)
    }

    @Test("near the ceiling, only the owner's clients are admitted")
    func newcomers() throws {
        let harness = start()
        harness.server.relieve(.high, at: 0)
        let peers = harness.server.peers
        let stranger = Peer(uid: 7, gid: 7, pid: 1)
        #expect(peers.reasonToTurnAway(stranger)?.0 == .busy)
        #expect(peers.reasonToTurnAway(stranger)?.2 == .memoryMax)
        #expect(peers.reasonToTurnAway(Peer(uid: 0, gid: 0, pid: 1)) == nil)
        harness.server.relieve(.none, at: 0)
        #expect(peers.reasonToTurnAway(stranger) == nil)
    }

    @Test("at the ceiling, of the heaviest user's connections the heaviest is closed with QUOTA")
    func heaviest() throws {
        let harness = start(memoryMax: 64 * 2_000)
        let clients = [1, 1, 2].map { harness.client(uid: $0) }
        for client in clients {
            client.open("/ledger")
            client.subscribe("/ledger")
        }
        harness.turn()
        // Neither of the first user's clients reads, and one has more to read.
        for client in clients[..<2] { client.take(0) }
        clients[2].dispatch(Ledger.Action.put(key: "a", value: .text("text")))
        harness.turn()
        // The first write is the socket's; what follows it waits in the queue.
        for _ in 0..<20 { clients[1].ask(.stats) }
        harness.turn()
        for client in clients { _ = client.frames() }
        let kept = clients.map { harness.server.connections[$0.id]?.keptBytes ?? 0 }
        #expect(kept[1] > max(kept[0], 2_000) && kept[2] < 2_000, "\(kept)")
        harness.server.relieve(.full, at: 0)
        for client in clients { client.take() }
        harness.turn()
        let closed = clients.map { $0.frames(.closing) }
        #expect(closed.map(\.count) == [0, 1, 0])
        let closing = try #require(closed[1].first).decode(Closing.self)
        #expect(closing.code == .quota && closing.message.contains("of uid 1: read faster"))
    }
}
