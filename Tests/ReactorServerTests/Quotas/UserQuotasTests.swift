import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Drives ``UserQuotas`` through a server.
@Suite("Quotas of users")
struct UserQuotasTests {
    private let second: UInt64 = 1_000_000_000

    /// Quotas that apply to uid 5.
    private func rules(_ change: (inout UserQuota) -> Void) -> QuotaRules {
        var quota = UserQuota()
        change(&quota)
        return QuotaRules([.init(to: .uid(5), quota)])
    }

    /// A server with a rate of actions for uid 5.
    private func start(actions: Int) -> ServerHarness {
        let harness = ServerHarness()
        harness.server.apply(rules { $0.actions = TokenRate(actions, in: second) })
        return harness
    }

    private func client(_ harness: ServerHarness, uid: UInt32 = 5) -> TestClient {
        let client = harness.client(uid: uid)
        client.open("/visits")
        harness.turn()
        _ = client.frames()
        return client
    }

    private func add(_ count: Int, _ client: TestClient) {
        for _ in 0..<count { client.add(1) }
    }

    /// Number of actions whose outcomes have arrived.
    private func applied(_ client: TestClient) throws -> Int {
        var count = 0
        for frame in client.frames(.applied) { count += Int(frame.id) }
        return count
    }

    private func wake(_ harness: ServerHarness, at time: UInt64) {
        harness.now = time
        harness.server.wake(at: time)
        harness.settle()
    }

    @Test("X117: a user that has used its rate waits, unread, until tokens return; others go on")
    func pauses() throws {
        let harness = start(actions: 100)
        let (one, two) = (client(harness), client(harness))
        let other = client(harness, uid: 6)
        add(99, one)
        harness.settle()
        #expect(try applied(one) == 99 && !one.socket.isPaused && harness.wakes.isEmpty)
        add(31, one)
        harness.settle()
        // Both of the user's connections wait, and that is no error.
        #expect(try applied(one) == 31 && one.socket.isPaused && two.socket.isPaused)
        #expect(!other.socket.isPaused && harness.server.statistics.quotaPauses == 1)
        #expect(harness.server.throttled.count == 2)
        add(5, one)
        add(2, two)
        add(500, other)
        harness.settle()
        #expect(try applied(one) == 0 && applied(two) == 0 && applied(other) == 500)
        // 30 tokens are owed, and one more must be there.
        let due = harness.now + second * 31 / 100
        #expect(harness.wakes == [due])
        wake(harness, at: due - 1)
        #expect(try applied(one) == 0)
        wake(harness, at: due)
        // Seven actions had waited, and six more are owed now.
        #expect(try applied(one) == 5 && applied(two) == 2 && two.socket.isPaused)
        #expect(harness.wakes == [due, due + second * 7 / 100])
        #expect(harness.server.statistics.faults == 0)
    }

    @Test("X117: each action of a batch counts for the rate")
    func batches() throws {
        let harness = start(actions: 100)
        let one = client(harness)
        for _ in 0..<10 {
            one.batch((0..<50).map { _ in (id: 0, action: Tally.Action.add(by: 1)) })
            harness.settle()
        }
        #expect(one.socket.isPaused)
        #expect(harness.server.statistics.actions < 10)
    }

    @Test("in the long run a user gets its rate, however it spreads its actions over connections")
    func rate() throws {
        let harness = start(actions: 50)
        let clients = (0..<3).map { _ in client(harness) }
        for client in clients { add(400, client) }
        harness.settle()
        let start = harness.now
        // What arrived within one turn was handled, and is owed.
        #expect(try clients.map { try applied($0) } == [400, 400, 400])
        for client in clients { add(100, client) }
        harness.settle()
        var (total, wakeCount) = (0, 0)
        while total < 300, wakeCount < 100 {
            wakeCount += 1
            wake(harness, at: try #require(harness.wakes.last))
            for client in clients { total += try applied(client) }
        }
        // The first 50 were free.
        #expect(total == 300 && harness.now - start >= second * 1_150 / 50)
        #expect(harness.now - start <= second * 1_151 / 50 && wakeCount == 1)
    }

    @Test("a new connection of a user that waits gets its welcome, and then waits too")
    func newcomer() throws {
        let harness = start(actions: 10)
        let first = client(harness)
        add(20, first)
        harness.settle()
        let second = harness.client(uid: 5)
        #expect(second.frames(.welcome).count == 1 && second.socket.isPaused)
        second.open("/visits")
        second.add(1)
        harness.settle()
        harness.server.tick(at: harness.now + 60 * self.second / 100)
        harness.settle()
        #expect(try applied(second) == 0 && !second.socket.isClosed)
        // A tick wakes as well as an order does.
        harness.server.tick(at: harness.now + 2 * self.second)
        harness.settle()
        #expect(try applied(second) == 1)
    }

    @Test("a connection that ends in the turn of its actions is charged for them")
    func leaves() throws {
        let harness = start(actions: 10)
        let (one, two) = (client(harness), client(harness))
        add(30, one)
        one.disconnect()
        harness.settle()
        #expect(two.socket.isPaused)
        // The account outlives its connections, until the tokens are returned.
        two.disconnect()
        harness.server.tick(at: harness.now + second)
        let three = harness.client(uid: 5)
        #expect(three.socket.isPaused)
        three.disconnect()
        harness.server.tick(at: harness.now + 9 * second)
        harness.server.tick(at: harness.now + 10 * second)
        #expect(!harness.server.connections.isEmpty || !harness.client(uid: 5).socket.isPaused)
    }

    @Test("a connection with its share of a turn waits after its rest")
    func resting() throws {
        let harness = ServerHarness { $0.framesPerTurnMax = 10 }
        harness.server.apply(rules { $0.actions = TokenRate(10, in: second) })
        let client = client(harness)
        add(20, client)
        for _ in 0..<30 { client.send(.ping) }
        harness.settle()
        #expect(client.frames(.pong).count == 10 && client.socket.isPaused)
        wake(harness, at: try #require(harness.wakes.last))
        #expect(client.frames(.pong).count == 20 && !client.socket.isPaused)
    }

    @Test("bytes of the journal are shared among those that acted, by the bytes of their actions")
    func journal() throws {
        let harness = try ServerHarness(
            Recovery(of: TestTree.make(), limits: ServerLimits()).finish(epoch: 7, sequence: 0))
        harness.server.apply(rules { $0.journal = TokenRate(4_000, in: 3_600 * second) })
        let (one, other) = (client(harness), client(harness, uid: 6))
        let first = harness.batches.count
        add(10, one)
        add(30, other)
        harness.settle()
        let byteCount = harness.batches[first...].reduce(0) {
            $0 + $1.deltas.count + $1.facts.count
        }
        #expect(byteCount > 1_000 && !one.socket.isPaused)
        while !one.socket.isPaused {
            try #require(harness.batches.count < 100)
            add(10, one)
            harness.settle()
        }
        let all = harness.batches[first...].reduce(0) { $0 + $1.deltas.count + $1.facts.count }
        let own = all - byteCount * 3 / 4
        #expect(own > 3_800 && own < 5_000, "\(own) of \(all)")
        add(1, other)
        harness.settle()
        #expect(!other.socket.isPaused)
        let wake = try #require(harness.wakes.last)
        #expect(wake > harness.now && wake < harness.now + 1_800 * second)
    }

    @Test("other rules apply at once: a user without a rate goes on")
    func reload() throws {
        let harness = start(actions: 10)
        let client = client(harness)
        add(5_000, client)
        harness.settle()
        #expect(client.socket.isPaused)
        add(3, client)
        harness.settle()
        let before = try applied(client)
        harness.server.apply(rules { $0.actions = TokenRate(20, in: second) })
        #expect(client.socket.isPaused, "what is owed stays owed")
        harness.server.apply(QuotaRules())
        harness.settle()
        #expect(before > 0 && !client.socket.isPaused)
        #expect(try before + applied(client) == 5_003 && harness.server.throttled.isEmpty)
    }

    @Test("a connection without the group of a rule does not end what its user owes")
    func otherGroup() throws {
        let harness = ServerHarness()
        var quota = UserQuota()
        quota.actions = TokenRate(10, in: second)
        harness.server.apply(QuotaRules([.init(to: .gid(5), quota)]))
        let member = client(harness)
        add(200, member)
        harness.settle()
        let other = harness.connect(uid: 5, gid: 7)
        other.hello()
        harness.settle()
        #expect(member.socket.isPaused && other.socket.isPaused)
        harness.server.apply(QuotaRules([.init(to: .gid(5), quota), .init(to: .gid(8), quota)]))
        harness.settle()
        #expect(member.socket.isPaused && other.socket.isPaused)
        other.disconnect()
        add(1, member)
        wake(harness, at: harness.now + 18 * second)
        #expect(try applied(member) == 200)
        wake(harness, at: harness.now + 2 * second)
        #expect(try applied(member) == 1)
    }

    @Test("an administrator is not slowed down by its user's quota")
    func administrator() throws {
        let harness = ServerHarness(ownerUID: 5)
        harness.server.apply(rules { $0.actions = TokenRate(10, in: second) })
        let client = client(harness)
        let admin = harness.connect(uid: 5, isAtAdminSocket: true)
        admin.hello()
        admin.open("/visits")
        add(50, admin)
        harness.settle()
        #expect(!client.socket.isPaused && harness.server.throttled.isEmpty)
        add(50, client)
        harness.settle()
        #expect(client.socket.isPaused && !admin.socket.isPaused)
    }

    @Test("a rule's number of connections replaces the limit of every user")
    func connections() throws {
        let harness = ServerHarness { $0.connectionsPerUIDMax = 3 }
        harness.server.apply(rules { $0.connectionsMax = 1 })
        _ = harness.client(uid: 5)
        let extra = harness.connect(uid: 5)
        harness.turn()
        let closing = try #require(extra.frames(.closing).first).decode(Closing.self)
        #expect(closing.code == .busy)
        #expect(closing.message == "quotas.connections 1 reached for uid 5")
        let others = (0..<3).map { _ in harness.client(uid: 6) }
        #expect(others.allSatisfy { !$0.socket.isClosed })
    }

    @Test("X117: a rule's memory replaces the limit of every user")
    func memory() throws {
        let harness = ServerHarness { $0.memoryPerUIDMax = 1 << 30 }
        harness.server.apply(rules { $0.memoryMax = 3_000 })
        let clients = [5, 6].map { client(harness, uid: $0) }
        for client in clients {
            client.take(0)
            for _ in 0..<60 {
                client.send(.ping)
                harness.turn()
            }
        }
        harness.server.boundUsers(at: harness.now)
        harness.settle()
        for client in clients { client.take() }
        let closed = try clients.map { client in
            harness.settle()
            return try client.frames(.closing).first?.decode(Closing.self).message
        }
        #expect(closed[1] == nil)
        #expect(closed[0]?.hasPrefix("quotas.memory 3000 bytes: the clients of uid 5") == true)
    }

    @Test("P77: a group's memory holds for each of its users, and for no other")
    func groupMemory() throws {
        let harness = ServerHarness { $0.memoryPerUIDMax = 1 << 30 }
        var batch = UserQuota()
        batch.memoryMax = 3_000
        let peers: [(uid: UInt32, gid: UInt32)] = [(5, 70), (6, 6), (7, 70), (8, 8)]
        let clients = peers.map { harness.connect(uid: $0.uid, gid: $0.gid) }
        for client in clients { client.hello() }
        harness.turn()
        harness.server.apply(QuotaRules([.init(to: .gid(70), batch)])) { id in
            // The second client has the group as a supplementary one.
            id.rawValue == 2 ? [70] : []
        }
        func queue(_ count: Int, _ client: TestClient) {
            client.take(0)
            for _ in 0..<count {
                client.send(.ping)
                harness.turn()
            }
        }
        queue(60, clients[0])
        queue(60, clients[1])
        queue(2, clients[2])
        queue(60, clients[3])
        harness.server.boundUsers(at: harness.now)
        harness.settle()
        let texts = try clients.map { client in
            client.take()
            harness.settle()
            return try client.frames(.closing).first?.decode(Closing.self).message ?? ""
        }
        #expect(
            texts.map { $0.hasPrefix("quotas.memory 3000 bytes") } == [true, true, false, false])
        #expect(clients[2...].allSatisfy { !$0.socket.isClosed })
    }

    @Test("a former server's accounts go on in its successor")
    func succeeds() throws {
        let harness = start(actions: 10)
        add(50, client(harness))
        harness.settle()
        let next = ServerHarness()
        next.server.succeed(harness.server)
        next.carryOut()
        #expect(next.wakes == harness.wakes)
        #expect(next.client(uid: 5).socket.isPaused && !next.client(uid: 6).socket.isPaused)
    }
}
