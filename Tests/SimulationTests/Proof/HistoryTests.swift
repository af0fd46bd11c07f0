import FoundationEssentials
import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorThreads
import Testing

/// A server that keeps history dies at any point, under any load, and nothing that anybody was told
/// is lost, doubled, or told otherwise.
///
///     swift test --filter HistoryTests                              # 3,000 seeds
///     REACTORD_SEED=17 swift test --filter HistoryTests             # one of them again
///     REACTORD_SEEDS=100000 swift test --filter HistoryTests        # a long run
///
/// The seed decides everything: the weather, the load, the crashes, and how fast the journal is.
struct HistoryTests {
    /// Seeds that one case runs one after the other.
    private static let seedsPerCase: UInt64 = 50

    /// The first seed of each case.
    static let cases: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        if environment["REACTORD_SEED"] != nil { return [0] }
        let count = environment["REACTORD_SEEDS"].flatMap { UInt64($0) } ?? 3_000
        return Array(stride(from: 0, to: count, by: Int(seedsPerCase)))
    }()

    private static func seeds(from first: UInt64) -> [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["REACTORD_SEED"].flatMap({ UInt64($0) }) { return [seed] }
        return Array(first..<first + seedsPerCase)
    }

    @Test(
        "J48, C85, C86: what was acknowledged survives every crash once, and mirrors have no gap",
        arguments: cases)
    func crashes(_ first: UInt64) {
        for seed in Self.seeds(from: first) {
            let crowd = HistoryCrowd(seed: seed)
            crowd.finish()
            #expect(
                crowd.world.violations == [],
                "run again with REACTORD_SEED=\(seed), \(crowd.world.restarts) crashes")
        }
    }

    @Test("the same seed brings the same again, to the last event")
    func repeatable() {
        for seed in [3, 7, 11] as [UInt64] {
            let runs = (0..<2).map { _ in
                let crowd = HistoryCrowd(seed: seed)
                crowd.finish()
                return "\(crowd.world.timeline.eventCount) \(crowd.world.server.tree.revision)"
            }
            #expect(runs[0] == runs[1], "seed \(seed)")
        }
    }

    @Test("the storms are storms: everything that can happen happens")
    func strength() {
        var (applied, rejected, unknown, told) = (0, 0, 0, 0)
        var answers = 0
        let start = ContinuousClock.now
        var (crashes, compared, snapshots, broken, events) = (0, 0, 0, 0, 0)
        for seed in 0..<60 as Range<UInt64> {
            let crowd = HistoryCrowd(seed: seed)
            crowd.finish()
            applied += crowd.counts.applied
            rejected += crowd.counts.rejected
            unknown += crowd.counts.unknown
            told += crowd.ledger.toldCount
            crashes += crowd.world.restarts
            compared += crowd.chronicle.comparedCount
            snapshots += crowd.journal.snapshotCount
            broken += crowd.journal.brokenSnapshotCount
            answers += crowd.journal.answerCount
            events += crowd.world.timeline.eventCount
        }
        let text =
            "\(events) events, \(applied) applied, \(rejected) rejected, \(unknown) unknown, "
            + "\(told) told, \(crashes) crashes, \(compared) compared, \(snapshots) snapshots, "
            + "\(broken) broken, \(answers) answered from the journal"
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        StandardError.write(line: "\(Int(Double(events) / seconds)) events a second")
        StandardError.write(line: text)
        #expect(applied > 500 && rejected > 100 && told > applied, "\(text)")
        #expect(crashes > 80 && compared > 60 && snapshots > 20 && broken > 5, "\(text)")
    }
}
