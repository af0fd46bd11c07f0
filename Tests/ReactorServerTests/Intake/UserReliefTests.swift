import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Drives ``UserRelief`` and ``SharedCharge``.
@Suite("The memory limit of a user")
struct UserReliefTests {
    /// Clients of these users with `/visits` open, whose sockets take nothing more.
    private func start(
        _ uids: [UInt32], _ change: @escaping (inout ServerLimits) -> Void
    ) -> (harness: ServerHarness, clients: [TestClient]) {
        let harness = ServerHarness(change: change)
        let clients = uids.map { harness.client(uid: $0) }
        for client in clients {
            client.open("/visits")
            client.send(.ping)
        }
        harness.turn()
        for client in clients { client.take(0) }
        return (harness, clients)
    }

    /// Adds about `count` times a hundred bytes to a client's output.
    private func fill(_ client: TestClient, _ count: Int) {
        for _ in 0..<count {
            client.send(.ping)
            client.harness.turn()
        }
    }

    private func closing(_ client: TestClient) throws -> Closing? {
        client.take()
        client.harness.settle()
        return try client.frames(.closing).first?.decode(Closing.self)
    }

    @Test("X117: above its limit, the heaviest connection of a user is closed with QUOTA")
    func heaviest() throws {
        let (harness, clients) = start([1, 1, 2]) { $0.memoryPerUIDMax = 3_000 }
        fill(clients[0], 12)
        fill(clients[1], 30)
        fill(clients[2], 31)
        let charges = harness.server.figures.memoryByUID
        let (kept, other) = try (#require(charges[1]).total, #require(charges[2]).total)
        #expect(kept > 3_000 && other < 3_000, "\(charges)")
        harness.server.tick(at: harness.now)
        harness.turn()
        let reason = try #require(try closing(clients[1]))
        #expect(reason.code == .quota)
        #expect(
            reason.message.hasPrefix(
                "memoryPerUIDMax 3000 bytes: the clients of uid 1 keep \(kept), and this "))
        let others = try [clients[0], clients[2]].map { try closing($0) }
        #expect(others == [nil, nil])
        #expect(harness.server.statistics.faultsByCode[.quota] == 1)
    }

    @Test("as many connections are closed as needed, and none without a limit")
    func several() throws {
        for limit in [2_000, 0] {
            let (harness, clients) = start([1, 1, 1]) { $0.memoryPerUIDMax = limit }
            for client in clients { fill(client, 20) }
            harness.server.boundUsers(at: harness.now)
            harness.turn()
            let closed = try clients.map { try closing($0) != nil }
            #expect(closed == (limit > 0 ? [true, true, false] : [false, false, false]))
        }
    }

    @Test("one answer that is larger than the limit ends no connection, with other output it does")
    func large() throws {
        let text = WireValue.text(String(repeating: "x", count: 2_000))
        let harness = ServerHarness.ledger(
            300, value: { _ in text }, change: { $0.memoryPerUIDMax = 3_000 })
        // The second client gets the same answer, which counts once.
        let clients = [1, 1].map { harness.client(uid: $0) }
        for client in clients {
            client.take(0)
            client.ask(.get(path: "/ledger"))
        }
        harness.settle()
        harness.server.boundUsers(at: harness.now)
        #expect(try #require(harness.server.figures.memoryByUID[1]).answers > 500_000)
        #expect(harness.server.statistics.faults == 0)
        let other = harness.client(uid: 1)
        other.take(0)
        other.send(.ping)
        harness.turn()
        fill(other, 40)
        harness.server.boundUsers(at: harness.now)
        #expect(harness.server.statistics.faultsByCode[.quota] == 1)
    }

    @Test("a buffer for which several connections of a user wait counts once")
    func shared() throws {
        let (harness, clients) = start([1, 1, 1, 1]) { $0.memoryPerUIDMax = 3_000 }
        for client in clients { client.subscribe("/page") }
        harness.turn()
        let writer = harness.client(uid: 2)
        writer.open("/page")
        writer.dispatch(Page.Action.title(String(repeating: "x", count: 2_000)))
        harness.turn()
        writer.dispatch(Page.Action.title(String(repeating: "y", count: 2_000)))
        harness.turn()
        #expect(try #require(harness.server.figures.memoryByUID[1]).total > 8_000)
        harness.server.boundUsers(at: harness.now)
        #expect(harness.server.statistics.faults == 0)
    }

    @Test("X117: a disconnected session goes before the connections if it is heavier than each")
    func sessions() throws {
        let (harness, clients) = start([1, 1]) { $0.memoryPerUIDMax = 3_000 }
        for number in 0..<40 {
            clients[0].dispatch(Tally.Action.refuse(text: "reason \(number)"))
            harness.turn()
        }
        clients[0].disconnect()
        fill(clients[1], 4)
        #expect(harness.server.sessions.count == 2)
        harness.server.boundUsers(at: harness.now)
        #expect(harness.server.sessions.count == 1 && harness.server.statistics.faults == 0)
        #expect(harness.server.sessions.leftBytes == 0)
    }
}
