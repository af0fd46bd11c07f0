import FoundationEssentials
import ReactorServer
import ReactorTesting
import Testing

struct SimulationTests {
    /// Seeds of the run: one alone where `REACTORD_SEED` says which; for a long run as many as
    /// `REACTORD_SEEDS` says.
    static let seeds: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["REACTORD_SEED"].flatMap({ UInt64($0) }) { return [seed] }
        return Array(0..<(environment["REACTORD_SEEDS"].flatMap { UInt64($0) } ?? 48))
    }()

    @Test(
        "through any storm: mirrors end at the state, no action counts twice, and limits hold",
        arguments: seeds)
    func storm(_ seed: UInt64) async throws {
        let (violations, restarts) = try await Apart.run {
            let crowd = Crowd(seed: seed, clients: 4)
            try crowd.finish()
            return (crowd.world.violations, crowd.world.restarts)
        }
        #expect(violations == [], "run again with REACTORD_SEED=\(seed)")
        #expect(restarts == (seed % 2 == 0 ? 1 : 0))
    }

    @Test("the storms are storms: readers fall behind, actions are sent again, clients come back")
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
            resets += crowd.world.resets
        }
        #expect(stats.conflations > 3 && stats.repeats > 3, "\(stats)")
        #expect(stats.rejections > 10 && stats.turnedAway > 0 && resets > 5, "\(stats)")
    }
}
