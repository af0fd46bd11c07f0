import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorThreads
import Testing

/// A simulation that finds nothing proves nothing: each fault is planted, and must be found.
struct CanaryTests {
    /// Seeds that are tried before a fault counts as missed.
    private static let seedsMax: UInt64 = 400
    /// What was found so far, for the table.
    private static let rows = Guarded<[String]>([])

    @Test(
        "J48, C85, C86: each planted fault is found, and it is told how soon",
        arguments: PlantedFault.allCases)
    func planted(_ fault: PlantedFault) throws {
        let start = ContinuousClock.now
        var events = 0
        for seed in 0..<Self.seedsMax {
            let world = try run(seed, fault)
            events += world.timeline.eventCount
            guard let first = world.violations.first else { continue }
            return tell(
                fault, "\(seed + 1) seeds, \(events) events, \(ContinuousClock.now - start)", first)
        }
        tell(fault, "MISSED by \(Self.seedsMax) seeds, \(events) events", "")
        Issue.record("\(fault) is not found by \(Self.seedsMax) seeds, \(events) events")
    }

    @Test(
        "a fault on the wire is noticed for what it is",
        arguments: [
            (.lostUpdates, "shows another"), (.repeatedActions, "applied twice"),
            (.earlyOutcomes, "while it shows"), (.earlyMarks, "shows"),
            (.keptEpoch, "went back"), (.keptClaims, "has ended"),
        ] as [(PlantedFault, String)])
    func named(_ fault: PlantedFault, _ words: String) throws {
        var noticed: [String] = []
        for seed in 0..<8 as Range<UInt64> {
            let crowd = Crowd(seed: seed, clients: 4, fault: fault)
            try crowd.finish()
            noticed = crowd.world.violations
            if noticed.contains(where: { $0.contains(words) }) { return }
        }
        Issue.record("no seed notices it for what it is: \(noticed.prefix(5))")
    }

    private func run(_ seed: UInt64, _ fault: PlantedFault) throws -> SimulatedWorld {
        if fault.isOfHistory {
            let crowd = HistoryCrowd(seed: seed, fault: fault)
            crowd.finish()
            return crowd.world
        }
        let crowd = Crowd(seed: seed, clients: 4, fault: fault)
        try crowd.finish()
        return crowd.world
    }

    /// Prints the table when it is whole.
    private func tell(_ fault: PlantedFault, _ time: String, _ found: String) {
        let table = Self.rows.withLock { rows in
            rows.append("canary | \(fault) | \(time) | \(found.prefix(110))")
            return rows.count == PlantedFault.allCases.count ? rows.sorted() : []
        }
        for row in table { StandardError.write(line: row) }
    }
}
