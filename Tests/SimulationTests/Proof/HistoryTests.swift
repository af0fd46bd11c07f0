import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorThreads
import Testing

/// A server with a history crashes at any point, under any load: no acknowledged action is lost,
/// doubled, or reported differently.
///
///     swift test --filter HistoryTests                              # 3,000 seeds
///     REACTORD_SEED=17 swift test --filter HistoryTests             # one of them again
///     REACTORD_SEEDS=100000 swift test --filter HistoryTests        # a long run
///
/// The seed determines everything: the disturbances, the load, the crashes, and the journal's
/// speed.
struct HistoryTests {
    static let plan = SeedPlan(count: 3_000, perCase: 50)

    @Test(
        "J48, C85, C86: acknowledged actions survive every crash once, and mirrors have no gap",
        arguments: plan.cases)
    func crashes(_ first: UInt64) async throws {
        for seed in Self.plan.seeds(from: first) {
            let (violations, crashes) = try await Apart.run {
                let crowd = HistoryCrowd(seed: seed)
                crowd.finish()
                return (crowd.world.violations, crowd.world.counts.restarts)
            }
            #expect(violations == [], "run again with REACTORD_SEED=\(seed), \(crashes) crashes")
        }
    }

    @Test("the same seed gives the same run, to the last event")
    func repeatable() async throws {
        for seed in [3, 7, 11] as [UInt64] {
            let runs = try await Apart.run {
                (0..<2).map { _ in
                    let crowd = HistoryCrowd(seed: seed)
                    crowd.finish()
                    return "\(crowd.world.timeline.eventCount) \(crowd.world.server.tree.revision)"
                }
            }
            #expect(runs[0] == runs[1], "seed \(seed)")
        }
    }

    @Test("the storms are effective: every kind of event happens")
    func strength() async throws {
        let sums = try await Apart.run {
            var sums = Sums()
            let start = ContinuousClock.now
            for seed in 0..<60 as Range<UInt64> {
                let crowd = HistoryCrowd(seed: seed)
                crowd.finish()
                sums.add(crowd)
            }
            sums.seconds = (ContinuousClock.now - start) / .seconds(1)
            return sums
        }
        StandardError.write(
            line: "\(Int(Double(sums.events) / sums.seconds)) events a second")
        StandardError.write(line: "\(sums)")
        #expect(sums.applied > 500 && sums.rejected > 100 && sums.told > sums.applied, "\(sums)")
        #expect(
            sums.crashes > 80 && sums.compared > 60 && sums.snapshots > 20 && sums.broken > 5,
            "\(sums)")
    }

    /// Totals over many worlds.
    private struct Sums {
        var (events, crashes, applied, rejected, unknown, told) = (0, 0, 0, 0, 0, 0)
        var (compared, snapshots, broken, answered) = (0, 0, 0, 0)
        var seconds = 0.0

        mutating func add(_ crowd: HistoryCrowd) {
            events += crowd.world.timeline.eventCount
            crashes += crowd.world.counts.restarts
            applied += crowd.counts.applied
            rejected += crowd.counts.rejected
            unknown += crowd.counts.unknown
            told += crowd.ledger.toldCount
            compared += crowd.chronicle.comparedCount
            snapshots += crowd.journal.snapshotCount
            broken += crowd.journal.brokenSnapshotCount
            answered += crowd.journal.answerCount
        }
    }
}
