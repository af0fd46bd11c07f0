import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorThreads
import Testing

/// Each fault is planted and must be found, since a simulation that finds nothing proves nothing.
///
/// Drives ``Saboteur`` and ``HistorySaboteur``.
struct CanaryTests {
    /// Maximum number of seeds to try before a fault counts as missed.
    private static let seedsMax: UInt64 = 400
    /// The findings so far, for the table.
    private static let rows = Guarded<[String]>([])

    @Test(
        "J48, C85, C86: each planted fault is found, and the time to find it is reported",
        arguments: PlantedFault.allCases)
    func planted(_ fault: PlantedFault) async throws {
        var events = 0
        var time = Duration.zero
        for seed in 0..<Self.seedsMax {
            let (count, violation, duration) = try await Apart.run {
                let start = ContinuousClock.now
                let world = try Self.run(seed, fault)
                let violation = world.violations.first
                return (world.timeline.eventCount, violation, ContinuousClock.now - start)
            }
            events += count
            time += duration
            guard let first = violation else { continue }
            return report(
                fault, "\(seed + 1) seeds, \(events) events, \(time)", first)
        }
        report(fault, "MISSED by \(Self.seedsMax) seeds, \(events) events", "")
        Issue.record("\(fault) is not found by \(Self.seedsMax) seeds, \(events) events")
    }

    @Test(
        "a fault on the wire is identified",
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

    private static func run(_ seed: UInt64, _ fault: PlantedFault) throws -> SimulatedWorld {
        if fault.isOfHistory {
            let crowd = HistoryCrowd(seed: seed, fault: fault)
            crowd.finish()
            return crowd.world
        }
        let crowd = Crowd(seed: seed, clients: 4, fault: fault)
        try crowd.finish()
        return crowd.world
    }

    /// Prints the table when it is complete.
    private func report(_ fault: PlantedFault, _ time: String, _ found: String) {
        let table = Self.rows.withLock { rows in
            rows.append("canary | \(fault) | \(time) | \(found.prefix(110))")
            return rows.count == PlantedFault.allCases.count ? rows.sorted() : []
        }
        for row in table { StandardError.write(line: row) }
    }
}
