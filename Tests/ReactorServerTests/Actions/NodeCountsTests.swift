import ReactorWire
import Testing

@testable import ReactorServer

@Suite("NodeCounts")
struct NodeCountsTests {
    private func counts(_ counts: NodeCounts) -> [UInt32: UInt64] {
        Dictionary(uniqueKeysWithValues: counts.all.map { ($0.number, $0.count) })
    }

    @Test("nodes with slots of their own are counted exactly")
    func exact() {
        var table = NodeCounts()
        for round: UInt64 in 1...3 {
            for number: UInt32 in 0..<UInt32(NodeCounts.slotCount) {
                table.add(round, to: number + 5_000)
            }
        }
        #expect(counts(table).count == NodeCounts.slotCount)
        #expect(counts(table).values.allSatisfy { $0 == 6 } && table.others == 0)
        #expect(table.spanCount == 3 * UInt64(NodeCounts.slotCount))
    }

    @Test("of the nodes that share a slot, the one with the most actions is shown; none is lost")
    func shared() {
        let stride = UInt32(NodeCounts.slotCount)
        var table = NodeCounts()
        var total: UInt64 = 0
        var generator = SystemRandomNumberGenerator()
        let seed = generator.next()
        var state = seed
        for _ in 0..<10_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let choice = UInt32(truncatingIfNeeded: state >> 33) % 10
            // Six of ten actions go to one node, the others to four nodes of the same slot.
            let number = 7 + stride * (choice < 6 ? 0 : choice - 5)
            table.add(1, to: number)
            total += 1
        }
        #expect(counts(table).keys.sorted() == [7], "seed \(seed)")
        #expect(counts(table).values.reduce(0, +) + table.others == total, "seed \(seed)")
        #expect(table.lastNumber & (stride - 1) == 7)
    }

    @Test("a server counts plain actions, actions with options and batches by their nodes")
    func server() throws {
        let harness = ServerHarness()
        let client = harness.client()
        client.open("/visits")
        harness.turn()
        let before = harness.server.progress
        client.add()
        client.dispatch(Tally.Action.add(by: 1), options: DispatchOptions(deadline: 1_000))
        client.batch([(0, Tally.Action.add(by: 1)), (0, Tally.Action.add(by: 1))])
        harness.turn()
        let progress = harness.server.progress
        #expect(progress.actionCount - before.actionCount == 3)
        #expect(progress.spanCount - before.spanCount == 4)
        #expect(harness.server.lastPath?.description == "/visits")
        let activity = harness.server.activity
        #expect(activity.nodes == [NodeActivity(path: "/visits", actions: 4)])
        #expect(activity.otherActions == 0)
        #expect(activity.clients.map(\.actions) == [3])
        #expect(activity.counters["actions"] == 3)
    }
}
