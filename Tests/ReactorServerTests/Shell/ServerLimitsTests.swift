import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Rows S33 to S35 and S38: how many clients the server admits.
struct ServerLimitsTests {
    private func refusal(_ client: TestClient) throws -> Closing? {
        try client.frames(.closing).first?.decode(Closing.self)
    }

    @Test("S33: beyond connectionsMax a connection is refused with BUSY, until another ends")
    func connectionsMax() throws {
        let harness = ServerHarness { $0.connectionsMax = 3 }
        let clients = (0..<3).map { _ in harness.client() }
        let extra = harness.connect()
        harness.turn()
        let closing = try refusal(extra)
        #expect(closing?.code == .busy)
        #expect(closing?.message.contains("connectionsMax 3") == true)
        #expect(extra.socket.isClosed)
        #expect(clients.allSatisfy { !$0.socket.isClosed })
        #expect(harness.server.statistics.turnedAway == 1)
        clients[0].disconnect()
        #expect(harness.client().frames(.welcome).count == 1)
    }

    @Test("S34: 20,000 connects and closes leave no trace")
    func storm() {
        let harness = ServerHarness()
        let client = harness.client()
        for round in 0..<20_000 {
            let guest = harness.connect(uid: UInt32(round % 7))
            if round % 2 == 0 { guest.hello() }
            if round % 5 == 0 { harness.turn() }
            guest.disconnect()
        }
        harness.settle()
        let server = harness.server
        #expect(server.connectionCount == 1)
        #expect(server.peers.admittedCount == 1)
        #expect(server.peers.silentCount == 0)
        #expect(server.sessions.count <= server.limits.sessionsMax)
        server.tick(at: harness.now + 2 * Handshake.blankSessionNanoseconds)
        #expect(server.sessions.count == 1)
        client.send(.ping)
        harness.turn()
        #expect(client.frames(.pong).count == 1)
    }

    @Test("S35: one uid cannot take all places: its next connection is BUSY, another uid's is not")
    func perUID() throws {
        let harness = ServerHarness { $0.connectionsPerUIDMax = 2 }
        _ = (harness.client(uid: 5), harness.client(uid: 5))
        let extra = harness.connect(uid: 5)
        harness.turn()
        #expect(try refusal(extra)?.message.contains("for uid 5") == true)
        #expect(harness.client(uid: 6).frames(.welcome).count == 1)
    }

    @Test("S35: when other users have all their places, the owner still connects, up to a limit")
    func ownerReserve() throws {
        let harness = ServerHarness(ownerUID: 1) { $0.connectionsMax = 10 }
        let others = (0..<8).map { harness.connect(uid: UInt32(10 + $0)) }
        harness.turn()
        #expect(others.dropLast(2).allSatisfy { !$0.socket.isClosed })
        #expect(try refusal(others[6])?.message.contains("4 reserved for the owner") == true)
        #expect(others[7].socket.isClosed)
        let owners = (0..<5).map { _ in harness.connect(uid: 1) }
        harness.turn()
        #expect(owners.dropLast().allSatisfy { !$0.socket.isClosed })
        #expect(try refusal(owners[4])?.code == .busy)
        #expect(harness.server.peers.admittedCount == 10)
    }

    @Test("S35: a daemon with few places reserves at most half of them for its owner")
    func ownerReserveOfFew() throws {
        let harness = ServerHarness(ownerUID: 1) { $0.connectionsMax = 2 }
        #expect(harness.client(uid: 10).frames(.welcome).count == 1)
        _ = harness.connect(uid: 10)
        harness.turn()
        #expect(harness.server.peers.admittedCount == 1)
    }

    @Test("S38: silent connections have places of their own, and are closed in time")
    func handshakes() throws {
        let harness = ServerHarness { $0.handshakesMax = 4 }
        let silent = (0..<4).map { _ in harness.connect() }
        let extra = harness.connect()
        harness.turn()
        #expect(harness.server.isCrowded && silent.allSatisfy { !$0.socket.isClosed })
        harness.settle()
        #expect(try refusal(silent[0])?.code == .busy)
        #expect(silent[0].socket.isClosed)
        #expect(silent.dropFirst().allSatisfy { !$0.socket.isClosed } && !extra.socket.isClosed)
        extra.hello()
        harness.turn()
        #expect(extra.frames(.welcome).count == 1)
        harness.now += 5_000_000_000
        harness.server.tick(at: harness.now)
        harness.settle()
        #expect(silent.allSatisfy { $0.socket.isClosed })
        #expect(!extra.socket.isClosed)
        #expect(harness.server.peers.silentCount == 0)
    }

    @Test("S38: a user whose 64 silent connections fill the places keeps no other user out")
    func silentFlood() {
        let harness = ServerHarness()
        for _ in 0..<64 { _ = harness.connect(uid: 7) }
        harness.turn()
        let client = harness.connect(uid: 8)
        for _ in 0..<1_000 { _ = harness.connect(uid: 7) }
        harness.settle()
        client.hello()
        harness.turn()
        #expect(client.frames(.welcome).count == 1)
        #expect(harness.server.peers.silentCount == 63)
        #expect(harness.server.connectionCount == 64)
        #expect(harness.events.count == 1)
    }

    // [WIRE-12-2]
    @Test("S38: of 200 clients with a hello at once, none is refused before its hello is read")
    func burst() {
        let harness = ServerHarness()
        let silent = harness.connect(uid: 9)
        for _ in 0..<3 { harness.turn() }
        // A listener may accept all of them before the loop reads one of their sockets.
        let clients = (0..<200).map { _ in harness.connect() }
        harness.turn()
        #expect(harness.server.needsTurn, "they are read from at once")
        for client in clients { client.hello() }
        harness.settle()
        #expect(clients.allSatisfy { $0.frames().map(\.kind) == [.welcome] })
        #expect(!silent.socket.isClosed && !harness.server.isCrowded)
    }

    @Test("S34: refused connections hold a bounded number of sockets until they are closed")
    func turnedAway() {
        let harness = ServerHarness {
            $0.connectionsMax = 10
            $0.handshakesMax = 4
        }
        harness.appendsAtOnce = false
        let writer = harness.client()
        writer.open("/visits")
        writer.add(1)
        // A turn's outputs wait for the earlier batches, so no client can be informed now.
        harness.turn()
        for _ in 0..<1_000 { _ = harness.connect() }
        harness.turn()
        #expect(harness.server.connectionCount <= 14)
        harness.append()
        #expect(harness.server.connectionCount <= 10)
    }

    // [WIRE-12-1]
    @Test("the server reports every limit by name and value")
    func named() throws {
        let harness = ServerHarness { $0.queueBytesMax = 12_345 }
        let client = harness.client()
        client.ask(.limits)
        harness.turn()
        let all = try #require(client.frames(.answer).first).decode([String: UInt64].self)
        #expect(all["queueBytesMax"] == 12_345)
        // A client cannot respect a limit that the daemon does not name.
        let fields = Mirror(reflecting: harness.server.limits).children.compactMap(\.label)
        #expect(fields.count > 15)
        for field in fields {
            #expect(all.keys.contains { $0.hasPrefix(field) }, "\(field)")
        }
    }
}
