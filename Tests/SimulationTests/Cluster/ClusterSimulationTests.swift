import ClusterSimulation
import FoundationEssentials
import ReactorCluster
import ReactorTesting
import Testing

/// Storms over nodes that append to one log. Drives ``SimulatedCluster``.
struct ClusterSimulationTests {
    /// Seeds of one test case.
    private static let batch: UInt64 = 100
    /// The first seed of each batch: 3,000 seeds, or `REACTORD_SEEDS` for a long run; a
    /// single one with `REACTORD_SEED`.
    private static let batches: [Range<UInt64>] = {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["REACTORD_SEED"].flatMap({ UInt64($0) }) {
            return [seed..<seed + 1]
        }
        let count = environment["REACTORD_SEEDS"].flatMap { UInt64($0) } ?? 3_000
        return stride(from: 0, to: count, by: Int(batch)).map { $0..<min($0 + batch, count) }
    }()

    /// Every eighth seed has five nodes.
    static func cluster(_ seed: UInt64, _ fault: ClusterFault? = nil) -> SimulatedCluster {
        SimulatedCluster(
            seed: seed, nodeCount: seed % 8 == 7 ? 5 : 3, faults: fault.map(ClusterSaboteur.init))
    }

    @Test(
        "in every storm there is one history, each told row is in it once, and all nodes converge",
        arguments: batches)
    func storm(_ seeds: Range<UInt64>) async throws {
        let failed = try await Apart.run {
            for seed in seeds {
                let cluster = Self.cluster(seed)
                cluster.run()
                if !cluster.violations.isEmpty { return (seed, cluster.violations) }
            }
            return (seeds.lowerBound, [])
        }
        #expect(failed.1 == [], "run again with REACTORD_SEED=\(failed.0)")
    }

    @Test("the storms are effective: leaders change, answers are lost, nodes need snapshots")
    func strength() async throws {
        let sums = try await Apart.run {
            var sums = [Int](repeating: 0, count: 11)
            for seed in 0..<60 as Range<UInt64> {
                let cluster = Self.cluster(seed)
                cluster.run()
                let counts = cluster.counts
                let more = [
                    counts.promotions, counts.depositions, counts.restarts, counts.snapshots,
                    counts.compactions, counts.told, counts.unknownAppends, counts.refusedAppends,
                    counts.lostTakeOvers, cluster.history.partedRowCount,
                    cluster.history.droppedRowCount,
                ]
                for index in sums.indices { sums[index] += more[index] }
            }
            return sums
        }
        let minima = [90, 40, 60, 4, 100, 4_000, 150, 50, 20, 80, 1]
        #expect(zip(sums, minima).allSatisfy { $0 >= $1 }, "\(sums), expected \(minima)")
    }

    @Test("a seed determines the run")
    func determinism() async throws {
        for seed in [3, 7] as [UInt64] {
            let runs = try await Apart.run {
                (0..<2).map { _ -> [UInt64] in
                    let cluster = Self.cluster(seed)
                    cluster.run()
                    return [
                        UInt64(cluster.timeline.eventCount), cluster.log.revision, cluster.log.term,
                        cluster.history.end.number, cluster.history.end.chain,
                    ]
                }
            }
            #expect(runs[0] == runs[1], "seed \(seed)")
        }
    }
}
