import ReactorTesting
import ReactorThreads
import Testing

/// Real servers, memberships and clients over a simulated log. Drives ``ClusterMember``.
///
///     swift test --filter MembershipTests                              # 50 seeds, the first 20 counted
///     REACTORD_SEED=17 swift test --filter MembershipTests             # one of them again
///     Config/test-simulation --filter MembershipTests                  # 3,000 after these 20, optimised
struct MembershipTests {
    /// The seeds of which the events are counted.
    static let counted: Range<UInt64> = 0..<20
    static let plan = SeedPlan(from: counted.upperBound, count: 30, perCase: 10)

    @Test(
        "no outcome is lost, doubled or taken back while leaders of a cluster change",
        arguments: plan.cases)
    func storms(_ first: UInt64) async throws {
        for seed in Self.plan.seeds(from: first) {
            let violations = try await Apart.run {
                let cluster = MemberCluster(seed: seed)
                cluster.finish()
                return cluster.violations
            }
            #expect(violations == [], "run again with REACTORD_SEED=\(seed)")
        }
    }

    @Test("the storms of a cluster are effective: every kind of event happens")
    func strength() async throws {
        let (sums, violations) = try await Apart.run { () -> ([String: Int], [String]) in
            var sums: [String: Int] = [:]
            var violations: [String] = []
            for seed in Self.counted {
                let cluster = MemberCluster(seed: seed)
                cluster.finish()
                violations += cluster.violations.map { "REACTORD_SEED=\(seed): \($0)" }
                let counts = cluster.book.counts
                sums["promotions", default: 0] += counts.promotions
                sums["depositions", default: 0] += counts.depositions
                sums["restarts", default: 0] += counts.restarts
                sums["cuts", default: 0] += counts.cuts
                sums["compared", default: 0] += counts.compared
                sums["aged", default: 0] += counts.aged
                sums["acted", default: 0] += counts.acted
                sums["lost", default: 0] += counts.lost
                sums["done", default: 0] += counts.done
                sums["begun again", default: 0] += counts.begunAgain
                sums["forwarded", default: 0] += counts.forwarded
                sums["synced", default: 0] += counts.synced
                sums["stalls", default: 0] += counts.stalls
                sums["held", default: 0] += counts.held
                sums["visits", default: 0] += counts.visits
                sums["applied", default: 0] += cluster.tokens.applied.count
                sums["refused", default: 0] += cluster.tokens.refused.count
                sums["unknown", default: 0] += cluster.tokens.unknown.count
            }
            return (sums, violations)
        }
        #expect(violations == [])
        StandardError.write(line: "membership | \(sums.sorted { $0.key < $1.key })")
        #expect(sums["promotions"] ?? 0 > 20 && sums["depositions"] ?? 0 > 4, "\(sums)")
        #expect(sums["restarts"] ?? 0 > 10 && sums["cuts"] ?? 0 > 10, "\(sums)")
        #expect(sums["applied"] ?? 0 > 300 && sums["refused"] ?? 0 > 300, "\(sums)")
        #expect(sums["compared"] ?? 0 > 300 && sums["aged"] ?? 0 > 3_000, "\(sums)")
        #expect(sums["acted"] ?? 0 > 50 && sums["done"] ?? 0 > 10, "\(sums)")
        #expect(sums["forwarded"] ?? 0 > 500 && sums["synced"] ?? 0 > 500, "\(sums)")
        #expect(sums["stalls"] ?? 0 > 3 && sums["held"] ?? 0 > 5, "\(sums)")
        #expect(sums["visits"] ?? 0 > 300, "\(sums)")
        #expect(sums["lost"] ?? 0 > 5 && sums["begun again"] ?? 0 > 5, "\(sums)")
    }

    @Test(
        "each planted fault of a membership is found by 100 seeds",
        arguments: MembershipFault.allCases)
    func planted(_ fault: MembershipFault) async throws {
        for seed in UInt64(0)..<100 {
            let violations = try await Apart.run {
                let cluster = MemberCluster(seed: seed, fault: fault)
                cluster.finish()
                return cluster.violations
            }
            guard let found = violations.first else { continue }
            return StandardError.write(
                line: "canary | \(fault) | \(seed + 1) seeds | \(found.prefix(110))")
        }
        Issue.record("\(fault) is not found by 100 seeds")
    }
}
