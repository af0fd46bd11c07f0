import ClusterSimulation
import ReactorThreads
import Testing

/// Each fault is planted in a simulated cluster and must be found. Drives ``ClusterSaboteur``.
struct ClusterCanaryTests {
    /// Maximum number of seeds to try before a fault counts as missed.
    private static let seedsMax: UInt64 = 100
    /// The findings so far, for the table.
    private static let rows = Guarded<[String]>([])

    @Test("each planted fault of a cluster is found", arguments: ClusterFault.allCases)
    func planted(_ fault: ClusterFault) async throws {
        let found = try await Apart.run { () -> (UInt64, String)? in
            for seed in 0..<Self.seedsMax {
                let cluster = ClusterSimulationTests.cluster(seed, fault)
                cluster.run()
                if let first = cluster.violations.first { return (seed + 1, first) }
            }
            return nil
        }
        report(fault, found.map { "\($0.0) seeds | \($0.1.prefix(110))" } ?? "MISSED")
        #expect(found != nil, "\(fault) is not found by \(Self.seedsMax) seeds")
    }

    @Test(
        "a fault of a cluster is identified",
        arguments: [
            (.unfencedAppends, "was accepted in term"), (.earlyTells, "told row"),
            (.compactedTooFar, "was compacted"), (.acceptedGap, "applied another row"),
            (.acceptedRepeat, "applied"), (.secondResolve, "in the history twice"),
            (.deposedTells, "told"), (.ignoredSuspension, "both act"),
        ] as [(ClusterFault, String)])
    func named(_ fault: ClusterFault, _ words: String) async throws {
        let noticed = try await Apart.run { () -> [String] in
            var noticed: [String] = []
            for seed in 0..<Self.seedsMax {
                let cluster = ClusterSimulationTests.cluster(seed, fault)
                cluster.run()
                noticed += cluster.violations
                if cluster.violations.contains(where: { $0.contains(words) }) { return [] }
            }
            return noticed
        }
        #expect(noticed == [], "no seed identifies it")
    }

    /// Prints the table when it is complete.
    private func report(_ fault: ClusterFault, _ found: String) {
        let table = Self.rows.withLock { rows in
            rows.append("canary | \(fault) | \(found)")
            return rows.count == ClusterFault.allCases.count ? rows.sorted() : []
        }
        for row in table { StandardError.write(line: row) }
    }
}
