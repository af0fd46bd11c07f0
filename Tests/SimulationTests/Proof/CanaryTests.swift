import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorThreads
import Testing

/// A simulation that finds nothing proves nothing: each fault is planted, and must be found.
struct CanaryTests {
    /// Seeds that are tried before a fault counts as missed.
    private static let seedsMax: UInt64 = 400

    @Test(
        "J48, C85, C86: each fault planted in the journal, or in what is made of it, is found",
        arguments: PlantedFault.ofHistory)
    func planted(_ fault: PlantedFault) {
        find(fault)
    }

    @Test(
        "faults on the wire are found across crashes as well",
        arguments: [.lateResumes, .lostUpdates, .earlyOutcomes] as [PlantedFault])
    func wire(_ fault: PlantedFault) { find(fault) }

    private func find(_ fault: PlantedFault) {
        var events = 0
        for seed in 0..<Self.seedsMax {
            let crowd = HistoryCrowd(seed: seed, fault: fault)
            crowd.finish()
            events += crowd.world.timeline.eventCount
            guard let first = crowd.world.violations.first else { continue }
            StandardError.write(
                line: "canary \(fault): \(events) events, \(first.prefix(150))")
            return
        }
        Issue.record("\(fault) is not found by \(Self.seedsMax) seeds, \(events) events")
    }
}
