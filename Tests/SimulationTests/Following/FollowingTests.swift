import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorThreads
import Testing

/// Followers apply the rows of a leading server, serve its clients, and lead after it. Drives
/// ``LiveRedo`` and ``RowApplier``.
///
///     swift test --filter FollowingTests                              # 24 seeds
///     REACTORD_SEED=17 swift test --filter FollowingTests             # one of them again
///     REACTORD_SEEDS=10000 swift test --filter FollowingTests         # a long run
struct FollowingTests {
    static let plan = SeedPlan(count: 24, perCase: 4)

    @Test(
        "followers have the leader's states after every row, and so have their clients",
        arguments: plan.cases)
    func storms(_ first: UInt64) async throws {
        for seed in Self.plan.seeds(from: first) {
            let violations = try await Apart.run {
                let crowd = FollowingCrowd(seed: seed)
                crowd.finish()
                return crowd.cluster.violations
            }
            #expect(violations == [], "run again with REACTORD_SEED=\(seed)")
        }
    }

    @Test("the same seed gives the same run, to the last event")
    func repeatable() async throws {
        let runs = try await Apart.run {
            (0..<2).map { _ in
                let crowd = FollowingCrowd(seed: 5)
                crowd.finish()
                let events = crowd.cluster.worlds.map(\.timeline.eventCount)
                return "\(events) \(crowd.cluster.leading.server.tree.revision)"
            }
        }
        #expect(runs[0] == runs[1])
    }

    @Test("the storms are effective: every kind of event happens")
    func strength() async throws {
        let text = try await Apart.run { () -> [String: Int] in
            var sums: [String: Int] = [:]
            for seed in 0..<10 as Range<UInt64> {
                let crowd = FollowingCrowd(seed: seed, carriesActions: true)
                crowd.finish()
                let counts = crowd.cluster.counts
                sums["rows", default: 0] += counts.rows
                sums["compared", default: 0] += counts.compared
                sums["withLeader", default: 0] += counts.comparedWithLeader
                sums["changes", default: 0] += counts.changes
                sums["lost", default: 0] += counts.lost
                sums["snapshots", default: 0] += counts.snapshots
                sums["applied", default: 0] += crowd.counts.applied
                sums["elsewhere", default: 0] += crowd.counts.appliedElsewhere
                sums["referred", default: 0] += crowd.counts.referred
                sums["shown", default: 0] += crowd.counts.compared
            }
            return sums
        }
        StandardError.write(line: "following | \(text.sorted { $0.key < $1.key })")
        #expect(text["rows"] ?? 0 > 500 && text["changes"] ?? 0 > 20, "\(text)")
        #expect(text["lost"] ?? 0 > 0, "\(text)")
        #expect(text["compared"] ?? 0 > text["rows"] ?? 0, "\(text)")
        #expect(text["withLeader"] ?? 0 > 200 && text["snapshots"] ?? 0 > 10, "\(text)")
        #expect(text["applied"] ?? 0 > 300 && text["elsewhere"] ?? 0 > 100, "\(text)")
        #expect(text["referred"] ?? 0 > 100 && text["shown"] ?? 0 > 500, "\(text)")
    }

    @Test(
        "each planted fault of a follower is found for what it is",
        arguments: [
            (.outcomeBeforeDelta, "while it shows"), (.skippedDelta, "another state"),
            (.otherReduce, "another state"),
        ] as [(FollowingFault, String)])
    func planted(_ fault: FollowingFault, _ words: String) async throws {
        for seed in 0..<100 as Range<UInt64> {
            let violations = try await Apart.run {
                let crowd = FollowingCrowd(seed: seed, fault: fault, carriesActions: true)
                crowd.finish()
                return crowd.cluster.violations
            }
            guard let first = violations.first else { continue }
            StandardError.write(
                line: "canary | \(fault) | \(seed + 1) seeds | \(first.prefix(110))")
            #expect(first.contains(words), "\(first)")
            return
        }
        Issue.record("\(fault) is not found by 100 seeds")
    }
}
