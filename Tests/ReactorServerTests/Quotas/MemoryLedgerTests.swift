import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Drives ``MemoryLedger`` and ``MemoryCharge``. The harness compares every ledger with its parts
/// after each turn.
@Suite("The ledger of users")
struct MemoryLedgerTests {
    private func ledger(_ harness: ServerHarness) -> MemoryLedger {
        MemoryLedger(
            of: harness.server.connections, harness.server.sessions,
            harness.server.answers.meter.room)
    }

    private func charges(_ harness: ServerHarness) -> [UInt32: MemoryCharge] {
        ledger(harness).charges
    }

    @Test("X117: input, output and outcomes are charged to the user whose client causes them")
    func kinds() throws {
        let harness = ServerHarness()
        let (one, other) = (harness.client(uid: 1), harness.client(uid: 2))
        #expect(charges(harness) == [1: MemoryCharge(), 2: MemoryCharge()])
        one.send(Array(TestClient.frame(.ping).prefix(7)))
        #expect(charges(harness)[1]?.input == 7 && charges(harness)[2]?.total == 0)
        other.open("/visits")
        other.take(0)
        other.ask(.stats)
        harness.turn()
        other.ask(.stats)
        harness.turn()
        let waiting = try #require(charges(harness)[2])
        #expect(waiting.output > 64 && waiting.input == 0 && charges(harness)[1]?.output == 0)
        other.take()
        #expect(charges(harness)[2] == MemoryCharge())
        other.dispatch(Tally.Action.ask)
        harness.turn()
        #expect(try #require(charges(harness)[2]).outcomes > 0)
        // The session and its outcomes stay.
        let outcomes = charges(harness)[2]?.outcomes
        other.disconnect()
        #expect(charges(harness)[2]?.outcomes == outcomes)
        #expect(charges(harness)[2]?.total == outcomes)
    }

    @Test("an answer that two connections of a user read counts once, and once for another user")
    func answers() throws {
        let text = WireValue.text(String(repeating: "x", count: 2_000))
        let harness = ServerHarness.ledger(300, value: { _ in text })
        let clients = [1, 1, 2].map { harness.client(uid: $0) }
        for client in clients {
            client.take(0)
            client.ask(.get(path: "/ledger"))
        }
        harness.settle()
        let charges = charges(harness)
        let byteCount = try #require(charges[1]?.answers)
        #expect(byteCount > 500_000 && charges[2]?.answers == byteCount)
        #expect(harness.server.figures.memoryByUID == charges)
        #expect(harness.server.ledgerDifferences() == [])
        for client in clients { client.take() }
        harness.settle()
        #expect(self.charges(harness)[1]?.answers == 0)
    }

    @Test("a counter that changes while its buffer does not, or the reverse, is a difference")
    func planted() {
        let harness = ServerHarness()
        let client = harness.client(uid: 3)
        let before = ledger(harness)
        client.send(Array(TestClient.frame(.ping).prefix(5)))
        let (server, room) = (harness.server, harness.server.answers.meter.room)
        let held = HeldMemory(of: server.connections, server.sessions, room)
        #expect(ledger(harness).differences(from: held) == [])
        #expect(
            before.differences(from: held)
                == ["input of uid 3: 0 bytes are counted, 5 are held"])
        let other = server.ledgerDifferences { $0[4, default: MemoryCharge()].outcomes += 2 }
        #expect(other == ["outcomes of uid 4: 2 bytes are counted, 0 are held"])
        let answers = server.answers.meter.ledgerDifferences(answerByteCount: 3) { _ in }
        #expect(answers == ["answers: 3 bytes are counted, 0 are held"])
    }

    @Test("states of the past are charged to the user that asks for them, until they are answered")
    func past() throws {
        let harness = ServerHarness()
        let (server, room) = (harness.server, harness.server.answers.meter.room)
        for byteCount in [300, 500] {
            try room.claimPast(byteCount, of: 4, keeping: 0, max: 0)
        }
        try room.claimPast(70, of: 5, keeping: 0, max: 0)
        #expect(charges(harness)[4]?.past == 800 && charges(harness)[5]?.past == 70)
        #expect(server.figures.memoryByUID[4]?.total == 800)
        #expect(server.ledgerDifferences() == [])
        server.endPast(of: 4)
        #expect(charges(harness)[4]?.past == 500)
        server.endPast(of: 4)
        server.endPast(of: 4)
        #expect(charges(harness)[4] == nil && charges(harness)[5]?.past == 70)
    }
}
