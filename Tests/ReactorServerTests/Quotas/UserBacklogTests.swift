import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Drives ``UserBacklog`` through a server whose journal appends when the test says so.
@Suite("Bytes of users before the journal")
struct UserBacklogTests {
    private static let byteCountMax = 100_000

    private func start(
        _ change: (inout ServerLimits) -> Void = { _ in }
    ) -> ServerHarness {
        let harness = ServerHarness {
            $0.unreleasedBytesPerUIDMax = Self.byteCountMax
            change(&$0)
        }
        return harness
    }

    private func client(
        _ harness: ServerHarness, uid: UInt32, isAtAdminSocket: Bool = false
    ) -> TestClient {
        let client = harness.connect(uid: uid, isAtAdminSocket: isAtAdminSocket)
        client.hello()
        client.open("/page")
        harness.turn()
        harness.append()
        _ = client.frames()
        return client
    }

    /// The frames of `count` actions, each with a text of `byteCount` bytes.
    private func frames(_ client: TestClient, _ count: Int, of byteCount: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for _ in 0..<count {
            let action = Page.Action.body(String(repeating: "x", count: byteCount))
            bytes += TestClient.frame(
                .dispatch, number: client.nextOrdinal(), action.wireBytes())
        }
        return bytes
    }

    private func outcomeCount(_ client: TestClient) throws -> Int {
        try OutcomeLog(client.frames()).outcomes.count
    }

    private func waitingByteCount(_ harness: ServerHarness, of uid: UInt32) -> Int {
        harness.server.intake.backlog.waitingByteCount(of: uid)
    }

    @Test("X117: one large action of a user at a time waits for the journal, and others continue")
    func oneAtATime() throws {
        let harness = start()
        let (greedy, second) = (client(harness, uid: 5), client(harness, uid: 5))
        let other = client(harness, uid: 6)
        harness.appendsAtOnce = false
        greedy.send(frames(greedy, 3, of: 200_000))
        second.send(frames(second, 2, of: 200_000))
        other.send(frames(other, 1, of: 10))
        harness.turn()
        #expect(greedy.socket.isPaused && second.socket.isPaused && !other.socket.isPaused)
        #expect(harness.server.statistics.backlogPauses == 2)
        var counts = (greedy: 0, second: 0)
        var order: [Int] = []
        // Its connections take turns, in the order in which they had to wait.
        for _ in 0..<5 {
            #expect((200_000..<201_000).contains(waitingByteCount(harness, of: 5)))
            harness.turn()
            harness.append()
            harness.turn()
            let (first, next) = (try outcomeCount(greedy), try outcomeCount(second))
            #expect(first + next == 1)
            order.append(first > 0 ? 1 : 2)
            counts.greedy += first
            counts.second += next
            other.send(frames(other, 1, of: 10))
        }
        #expect(counts.greedy == 3 && counts.second == 2)
        #expect(order == [1, 1, 2, 1, 2])
        harness.turn()
        harness.append()
        harness.settle()
        #expect(try outcomeCount(other) == 6)
        #expect(!greedy.socket.isPaused && !second.socket.isPaused)
        #expect(waitingByteCount(harness, of: 5) == 0 && waitingByteCount(harness, of: 6) == 0)
        #expect(harness.server.statistics.faults == 0)
    }

    @Test("after a large action, a user rests for eight times its duration if another user writes")
    func rests() throws {
        let harness = start()
        let (greedy, other) = (client(harness, uid: 5), client(harness, uid: 6))
        harness.appendsAtOnce = false
        other.send(frames(other, 1, of: 10))
        greedy.send(frames(greedy, 3, of: 200_000))
        harness.turn()
        harness.now += 10_000_000
        harness.append()
        let end = harness.now + 80_000_000
        #expect(harness.wakes == [end])
        for time in [harness.now, end - 1] {
            harness.now = time
            harness.server.wake(at: time)
            other.send(frames(other, 1, of: 10))
            harness.turn()
            harness.append()
        }
        #expect(greedy.socket.isPaused)
        #expect(try outcomeCount(greedy) == 1 && outcomeCount(other) == 3)
        harness.now = end
        harness.server.wake(at: end)
        harness.turn()
        // The other user has written nothing for longer than a second.
        harness.now += 2_000_000_000
        harness.append()
        #expect(harness.wakes.count == 1)
        harness.turn()
        harness.append()
        harness.settle()
        #expect(!greedy.socket.isPaused)
        #expect(try outcomeCount(greedy) == 2)
    }

    @Test("without a limit no action waits")
    func unlimited() throws {
        let harness = start { $0.unreleasedBytesPerUIDMax = .max }
        let (greedy, second) = (client(harness, uid: 5), client(harness, uid: 5))
        _ = client(harness, uid: 6)
        harness.appendsAtOnce = false
        greedy.send(frames(greedy, 1, of: 200_000))
        // The turn has bytes by now.
        second.send(frames(second, 1, of: 200_000))
        harness.turn()
        #expect(!greedy.socket.isPaused && !second.socket.isPaused)
        harness.append()
        harness.settle()
        #expect(try outcomeCount(greedy) == 1 && outcomeCount(second) == 1)
    }

    @Test("small actions wait as soon as together they have the bytes of their user")
    func small() throws {
        let harness = start()
        let (greedy, _) = (client(harness, uid: 5), client(harness, uid: 6))
        harness.appendsAtOnce = false
        var sent = 0
        while !greedy.socket.isPaused, sent < 1_000 {
            greedy.send(frames(greedy, 1, of: 1_000))
            sent += 1
            harness.turn()
        }
        #expect((95...100).contains(sent))
        #expect(waitingByteCount(harness, of: 5) >= Self.byteCountMax)
        harness.append(sent / 2)
        #expect(!greedy.socket.isPaused)
        harness.append()
        harness.settle()
        #expect(try outcomeCount(greedy) == sent)
    }

    @Test("with clients of one user nothing is measured, and no input waits")
    func oneUser() throws {
        let harness = start()
        let clients = (0..<2).map { _ in client(harness, uid: 5) }
        harness.appendsAtOnce = false
        for client in clients { client.send(frames(client, 3, of: 200_000)) }
        harness.turn()
        #expect(waitingByteCount(harness, of: 5) == 0)
        harness.append()
        harness.settle()
        #expect(try clients.map { try outcomeCount($0) } == [3, 3])
    }

    @Test("a new client of a user that waits is greeted, and an administrator does not wait")
    func exempt() throws {
        let harness = start()
        let (greedy, _) = (client(harness, uid: 1_000), client(harness, uid: 6))
        harness.appendsAtOnce = false
        greedy.send(frames(greedy, 2, of: 200_000))
        let late = harness.connect(uid: 1_000)
        late.hello()
        let admin = client(harness, uid: 1_000, isAtAdminSocket: true)
        harness.appendsAtOnce = false
        admin.send(frames(admin, 3, of: 200_000))
        harness.turn()
        harness.append()
        harness.settle()
        #expect(late.frames(.welcome).count == 1)
        #expect(try outcomeCount(admin) == 3)
    }

    @Test("a client that ends while it waits or has closed its half delays no other client")
    func endings() throws {
        let harness = start()
        let clients = (0..<3).map { _ in client(harness, uid: 5) }
        let other = client(harness, uid: 6)
        harness.appendsAtOnce = false
        for client in clients { client.send(frames(client, 2, of: 200_000)) }
        harness.server.endInput(clients[1].id)
        harness.disconnect(clients[0].id)
        for _ in 0..<6 {
            harness.turn()
            harness.append()
        }
        harness.settle()
        #expect(try outcomeCount(clients[1]) == 2 && clients[1].socket.isClosed)
        #expect(try outcomeCount(clients[2]) == 2)
        other.send(frames(other, 1, of: 10))
        harness.turn()
        harness.append()
        #expect(try outcomeCount(other) == 1)
    }

    @Test("another limit holds from the next input on")
    func changes() throws {
        let harness = start()
        let (greedy, _) = (client(harness, uid: 5), client(harness, uid: 6))
        var limits = harness.server.limits
        limits.unreleasedBytesPerUIDMax = 1 << 20
        harness.server.setLimits(limits)
        harness.appendsAtOnce = false
        greedy.send(frames(greedy, 3, of: 200_000))
        harness.turn()
        #expect(!greedy.socket.isPaused)
        harness.append()
        #expect(try outcomeCount(greedy) == 3)
    }

    @Test("while the shell holds back the users that write most, other users continue")
    func heaviest() throws {
        let harness = start()
        let (greedy, other) = (client(harness, uid: 5), client(harness, uid: 6))
        greedy.send(frames(greedy, 1, of: 50_000))
        other.send(frames(other, 1, of: 100))
        harness.turn()
        harness.server.holdBack(.heaviest)
        for client in [greedy, other] { client.send(frames(client, 2, of: 10)) }
        harness.settle()
        #expect(greedy.socket.isPaused && !other.socket.isPaused)
        #expect(try outcomeCount(greedy) == 1 && outcomeCount(other) == 3)
        harness.server.holdBack(.none)
        harness.settle()
        #expect(!greedy.socket.isPaused)
        #expect(try outcomeCount(greedy) == 2)
        // A snapshot has all that was written before it.
        _ = harness.parts(of: try harness.beginSnapshot())
        harness.server.holdBack(.heaviest)
        greedy.send(frames(greedy, 1, of: 10))
        harness.settle()
        #expect(try outcomeCount(greedy) == 1)
    }

    @Test("users that write equally are all held back, and so is the only one")
    func equal() throws {
        let harness = start()
        let first = client(harness, uid: 5)
        harness.server.holdBack(.heaviest)
        first.send(frames(first, 1, of: 10))
        harness.settle()
        #expect(first.socket.isPaused)
        harness.server.holdBack(.none)
        harness.settle()
        let second = client(harness, uid: 6)
        for client in [first, second] { client.send(frames(client, 1, of: 5_000)) }
        harness.turn()
        harness.server.holdBack(.heaviest)
        for client in [first, second] { client.send(frames(client, 1, of: 10)) }
        harness.settle()
        #expect(first.socket.isPaused && second.socket.isPaused)
        harness.server.holdBack(.all)
        harness.server.holdBack(.none)
        harness.settle()
        #expect(!first.socket.isPaused && !second.socket.isPaused)
        #expect(try outcomeCount(first) == 3 && outcomeCount(second) == 2)
    }
}
