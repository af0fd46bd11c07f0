import ReactorClient
import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorWire
import StockReactors
import Testing

/// Clients that fill a map beyond the maximum of all states, in a simulated world.
struct CeilingStormTests {
    /// What became of the actions.
    private struct Counts: Sendable {
        var refused = 0
        var set = 0
        var removed = 0
    }

    private static let byteCountMax = 20_000
    /// Bytes that the actions of one read may add beyond it.
    private static let readBytesMax = 40 * 400

    private final class Storm {
        let world: SimulatedWorld
        let tree: Tree
        private(set) var counts = Counts()

        init(seed: UInt64) {
            var limits = ServerLimits()
            limits.inFlightMax = 40
            limits.stateBytesMax = .bytes(CeilingStormTests.byteCountMax)
            tree = Tree(ReactorGroup([("map", Map())]), epoch: 7)
            world = SimulatedWorld(seed: seed, tree, limits: limits)
            world.hooks.check(MemoryAudit(limits, stateBytesMax: 64_000, turnBytesMax: 64_000))
            world.hooks.onStep = { [unowned self] in look() }
            for _ in 0..<3 { work(world.client()) }
        }

        private func look() {
            var writer = WireWriter()
            tree.forEachNode { $0.encodeState(into: &writer) }
            let most =
                CeilingStormTests.byteCountMax / 64 * 65 + CeilingStormTests.readBytesMax
            world.expect(writer.count <= most, "states have \(writer.count) bytes")
        }

        private func work(_ client: SimulatedClient) {
            client.act { machine in
                machine.open("/map") { [unowned self] result in
                    guard let node = try? result.get() else { return }
                    act(client, node)
                }
            }
        }

        private func act(_ client: SimulatedClient, _ node: NodeID) {
            let pause = UInt64.random(in: 100_000...3_000_000, using: &world.random)
            world.timeline.after(pause) { [unowned self] in
                guard world.chance.isStormy else { return }
                client.act { machine in
                    for _ in 0..<Int.random(in: 1...8, using: &world.random) {
                        send(machine, to: node)
                    }
                }
                act(client, node)
            }
        }

        private func send(_ machine: ClientMachine, to node: NodeID) {
            let key = WireKey("k\(Int.random(in: 0..<500, using: &world.random))")
            let isRemoval = world.random.chance(30)
            let size = Int.random(in: 0..<300, using: &world.random)
            let action: Map.Action =
                isRemoval
                ? .remove(key: key)
                : .set(key: key, value: .text(String(repeating: "x", count: size)))
            try? machine.submit(OutgoingAction(action, to: node)) { [unowned self] outcome in
                if outcome.revision != nil {
                    if isRemoval { counts.removed += 1 } else { counts.set += 1 }
                } else if case .rejected(let rejection) = outcome,
                    rejection.code == FaultCode.memoryFull.rawValue
                {
                    counts.refused += 1
                }
            }
        }
    }

    @Test(
        "P77: in a storm states stay at stateBytesMax, and each counter is the sum of its parts",
        arguments: 0..<6 as Range<UInt64>)
    func storm(_ seed: UInt64) async throws {
        let (violations, counts) = try await Apart.run {
            let storm = Storm(seed: seed)
            storm.world.run(for: 400_000_000)
            storm.world.heal()
            storm.world.run(for: 3_000_000_000)
            return (storm.world.violations, storm.counts)
        }
        #expect(violations == [], "seed \(seed)")
        #expect(counts.refused > 20 && counts.set > 20 && counts.removed > 5, "\(counts)")
    }
}
