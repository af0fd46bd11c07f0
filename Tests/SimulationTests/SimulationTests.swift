import FoundationEssentials
import ReactorClient
import ReactorCore
import ReactorServer
import ReactorTesting
import StockReactors
import Testing

/// Drives ``StateLedger``.
struct SimulationTests {
    /// The seeds of the run: a single one with `REACTORD_SEED`; as many as `REACTORD_SEEDS` for a
    /// long run.
    static let seeds: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["REACTORD_SEED"].flatMap({ UInt64($0) }) { return [seed] }
        return Array(0..<(environment["REACTORD_SEEDS"].flatMap { UInt64($0) } ?? 48))
    }()

    @Test(
        "in every storm mirrors end at the state, no action counts twice, and limits hold",
        arguments: seeds)
    func storm(_ seed: UInt64) async throws {
        let (violations, restarts) = try await Apart.run {
            let crowd = Crowd(seed: seed, clients: 4)
            try crowd.finish()
            return (crowd.world.violations, crowd.world.counts.restarts)
        }
        #expect(violations == [], "run again with REACTORD_SEED=\(seed)")
        #expect(restarts == (seed % 2 == 0 ? 1 : 0))
    }

    @Test("W22: a half-closed client gets its answer until it dies, and then owns nothing")
    func fades() throws {
        let tree = Tree(Lock(), epoch: 7)
        let world = SimulatedWorld(seed: 1, tree, isCalm: true)
        func acquire() throws -> SimulatedClient {
            let client = world.client()
            client.act { machine in
                machine.open("/") { result in
                    guard let node = try? result.get() else { return }
                    _ = try? machine.dispatch(Lock.Action.acquire(wait: true), to: node)
                }
            }
            world.run(for: 10_000_000)
            return client
        }
        let holder = try acquire()
        let waiter = try acquire()
        let lock = try #require(tree.root as? Node<Lock>)
        #expect(lock.state.waiters.count == 1)
        waiter.fade(for: 1_000_000_000)
        world.run(for: 900_000_000)
        #expect(lock.state.waiters.count == 1 && world.server.connectionCount == 2)
        world.run(for: 200_000_000)
        #expect(lock.state.waiters.isEmpty && world.server.connectionCount == 1)
        #expect(lock.state.holder != nil && !holder.isGone)
    }

    @Test("the storms are effective: readers fall behind, actions are resent, clients reconnect")
    func strength() throws {
        var stats = ServerStats()
        var resets = 0
        for seed in 0..<3 as Range<UInt64> {
            let crowd = Crowd(seed: seed, clients: 4)
            crowd.world.run(for: 400_000_000)
            let now = crowd.world.server.statistics
            stats.conflations += now.conflations
            stats.repeats += now.repeats
            stats.rejections += now.rejections
            stats.turnedAway += now.turnedAway
            resets += crowd.world.counts.resets
        }
        #expect(stats.conflations > 3 && stats.repeats > 3, "\(stats)")
        #expect(stats.rejections > 10 && stats.turnedAway > 0 && resets > 5, "\(stats)")
    }
}
