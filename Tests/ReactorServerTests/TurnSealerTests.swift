import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Turns with a journal and without one.
struct TurnSealerTests {
    @Test("without a journal, a turn has no batch, and its outputs leave at its end")
    func withoutJournal() throws {
        let harness = ServerHarness(hasJournal: false)
        let (writer, reader) = (harness.client(), harness.client())
        writer.open("/visits")
        reader.subscribe("/visits", .replica)
        harness.turn()
        _ = (writer.frames(), reader.frames())
        writer.add(2)
        harness.turn()
        #expect(writer.frames().map(\.kind) == [.applied])
        #expect(reader.frames().map(\.kind) == [.delta, .mark])
        #expect(harness.batches.isEmpty)
    }

    @Test("without a journal, a client that comes back gets what it missed from the ring")
    func resumes() throws {
        let harness = ServerHarness(hasJournal: false)
        let writer = harness.client()
        writer.open("/visits")
        for amount in 1...4 {
            writer.add(amount)
            harness.turn()
        }
        let reader = harness.client()
        reader.subscribe("/visits", .replica, from: Revision(epoch: 7, sequence: 2))
        harness.turn()
        #expect(reader.frames(.delta).map(\.number) == [3, 4])
    }

    /// Random clients of one server: what they send does not depend on what they receive.
    private static func traffic(seed: UInt64, hasJournal: Bool) -> [[UInt8]] {
        var random = SeededGenerator(seed: seed)
        let harness = ServerHarness(hasJournal: hasJournal) { $0.queueBytesMax = 2_000 }
        let clients = (0..<4).map { _ in harness.client() }
        let paths = ["/visits", "/other", "/page", "/house"]
        for client in clients {
            for (id, path) in paths.enumerated() { client.open(path, as: UInt32(id)) }
        }
        harness.turn()
        for _ in 0..<300 {
            let client = clients[Int.random(in: 0..<4, using: &random)]
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                let mode: SubscriptionMode = Bool.random(using: &random) ? .replica : .value
                client.subscribe(paths[Int.random(in: 0..<4, using: &random)], mode)
            case 1: client.socket.room = Int.random(in: 0..<200, using: &random)
            case 2: client.take()
            case 3, 4, 5: harness.turn()
            default:
                let amount = Int.random(in: -9..<9, using: &random)
                client.add(amount, to: .random(in: 0..<2, using: &random))
            }
        }
        for client in clients { client.take() }
        harness.settle()
        return clients.map(\.socket.received)
    }

    @Test("clients get the same bytes with a journal that stores at once and without one")
    func equivalence() {
        for seed in 1...40 as ClosedRange<UInt64> {
            let stored = Self.traffic(seed: seed, hasJournal: true)
            #expect(stored == Self.traffic(seed: seed, hasJournal: false), "seed \(seed)")
            #expect(stored.contains { $0.count > 2_000 }, "seed \(seed)")
        }
    }
}
