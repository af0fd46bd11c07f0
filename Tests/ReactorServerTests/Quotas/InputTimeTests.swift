import ReactorWire
import Testing

@testable import ReactorServer

/// The time that users may take in a turn, with a clock that each reading moves on.
struct InputTimeTests {
    /// A clock that moves on by `step` nanoseconds at each reading.
    private final class Clock {
        var readingCount = 0
        let step: UInt64

        init(step: UInt64) { self.step = step }

        func read() -> UInt64 {
            readingCount += 1
            return UInt64(readingCount) * step
        }
    }

    private static let turnTime: UInt64 = 2_000_000

    private func start(
        step: UInt64 = 500_000, turnTime: UInt64 = turnTime
    ) -> (harness: ServerHarness, clock: Clock) {
        let harness = ServerHarness {
            $0.inFlightMax = 100_000
            $0.inFlightBytesMax = 1 << 30
            $0.connectionsPerUIDMax = 1_000
            $0.turnTimePerUID = turnTime
        }
        let clock = Clock(step: step)
        harness.server.measureInput { clock.read() }
        return (harness, clock)
    }

    private func client(_ harness: ServerHarness, uid: UInt32) -> TestClient {
        let client = harness.client(uid: uid)
        client.open("/visits")
        harness.turn()
        _ = client.frames()
        return client
    }

    /// Sends `count` actions as one read.
    private func flood(_ client: TestClient, _ count: Int) {
        var bytes: [UInt8] = []
        for _ in 0..<count {
            bytes += TestClient.frame(
                .dispatch, number: client.nextOrdinal(), Tally.Action.add(by: 1).wireBytes())
        }
        client.send(bytes)
    }

    private func outcomeCount(_ client: TestClient) throws -> Int {
        try OutcomeLog(client.frames()).outcomes.count
    }

    @Test("X117: beside a user that floods, each of 100 users is served in each turn")
    func fair() throws {
        let (harness, _) = start()
        let greedy = client(harness, uid: 1)
        let others = (0..<100).map { client(harness, uid: UInt32(100 + $0)) }
        harness.turn()
        flood(greedy, 2_000)
        var (received, turnCount) = (0, 0)
        while received < 2_000, turnCount < 2_000 {
            // Their input arrives behind that of the other user, which is there already.
            for other in others { other.add() }
            harness.turn()
            turnCount += 1
            for other in others { #expect(try outcomeCount(other) == 1) }
            let count = try outcomeCount(greedy)
            // Four readings take the time of a turn; a run ends at the reading after it.
            #expect(count <= 5 * Int(InputTime.actionsPerReading), "turn \(turnCount)")
            received += count
        }
        #expect(received == 2_000 && turnCount >= 2_000 / 80)
        #expect(harness.server.statistics.turnTimePauses >= UInt64(turnCount - 2))
    }

    @Test("X117: the connections of a user that floods take turns, and none waits for all others")
    func connectionsTakeTurns() throws {
        let (harness, _) = start()
        _ = client(harness, uid: 2)
        let clients = (0..<3).map { _ in client(harness, uid: 1) }
        harness.turn()
        for client in clients { flood(client, 1_000) }
        var counts = [0, 0, 0]
        for _ in 0..<12 {
            harness.turn()
            for (index, client) in clients.enumerated() {
                counts[index] += try outcomeCount(client)
            }
        }
        #expect(counts.allSatisfy { $0 > 0 } && counts.reduce(0, +) < 3_000, "\(counts)")
        let (least, most) = (counts.min() ?? 0, counts.max() ?? 0)
        #expect(most - least <= 2 * 80, "\(counts)")
        for _ in 0..<200 { harness.turn() }
        for (index, client) in clients.enumerated() { counts[index] += try outcomeCount(client) }
        #expect(counts == [1_000, 1_000, 1_000])
    }

    @Test("with clients of one user no time is read, and no input waits")
    func oneUser() throws {
        let (harness, clock) = start()
        let clients = (0..<2).map { _ in client(harness, uid: 1) }
        for client in clients { flood(client, 1_000) }
        harness.turn()
        #expect(try clients.allSatisfy { try outcomeCount($0) == 1_000 })
        #expect(clock.readingCount == 0)
    }

    @Test("without a clock no input waits")
    func withoutClock() throws {
        let harness = ServerHarness { $0.inFlightMax = 10_000 }
        let (first, second) = (client(harness, uid: 1), client(harness, uid: 2))
        flood(first, 1_000)
        second.add()
        harness.turn()
        #expect(try outcomeCount(first) == 1_000)
        #expect(try outcomeCount(second) == 1)
    }

    @Test("requests take time as actions do, and are answered in the next turns")
    func requests() {
        let (harness, _) = start(step: 1_000_000)
        let (greedy, other) = (client(harness, uid: 1), client(harness, uid: 2))
        harness.turn()
        var bytes: [UInt8] = []
        for number in 1...50 as ClosedRange<UInt64> {
            bytes += TestClient.frame(.ping, number: number)
        }
        greedy.send(bytes)
        other.send(.ping)
        harness.turn()
        let count = greedy.frames(.pong).count
        #expect((1...10).contains(count) && other.frames(.pong).count == 1)
        for _ in 0..<50 { harness.turn() }
        #expect(greedy.frames(.pong).count == 50 - count)
    }

    @Test("an administrator does not wait, and a new client is heard")
    func exempt() throws {
        let (harness, _) = start(step: 3_000_000)
        let (greedy, _) = (client(harness, uid: 1_000), client(harness, uid: 2))
        harness.turn()
        flood(greedy, 200)
        let admin = harness.connect(uid: 1_000, isAtAdminSocket: true)
        admin.hello()
        admin.open("/visits")
        flood(admin, 200)
        let late = harness.connect(uid: 1_000)
        late.hello()
        harness.turn()
        #expect(try outcomeCount(admin) == 200)
        #expect(late.frames(.welcome).count == 1)
        #expect(try outcomeCount(greedy) < 200)
    }

    @Test("another limit holds from the next input on, and a successor has the clock")
    func changes() throws {
        let (harness, clock) = start()
        let (greedy, _) = (client(harness, uid: 1), client(harness, uid: 2))
        var limits = harness.server.limits
        limits.turnTimePerUID = 1_000_000_000
        harness.server.setLimits(limits)
        harness.turn()
        flood(greedy, 1_000)
        harness.turn()
        #expect(try outcomeCount(greedy) == 1_000)
        let next = ServerHarness()
        next.server.succeed(harness.server)
        let count = clock.readingCount
        _ = (client(next, uid: 1), client(next, uid: 2))
        #expect(clock.readingCount > count)
    }
}
