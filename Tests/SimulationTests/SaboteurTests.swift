import ReactorTesting
import Testing

/// A simulation that notices nothing proves nothing: each fault is planted, and must be found.
struct SaboteurTests {
    @Test(
        "a planted fault is noticed, for what it is",
        arguments: [
            (.lostUpdates, "shows another"), (.repeatedActions, "applied twice"),
            (.earlyOutcomes, "while it shows"), (.earlyMarks, "shows"),
            (.keptEpoch, "went back"), (.keptClaims, "has ended"),
        ] as [(PlantedFault, String)])
    func planted(_ fault: PlantedFault, _ words: String) throws {
        var noticed: [String] = []
        for seed in 0..<8 as Range<UInt64> {
            let crowd = Crowd(seed: seed, clients: 4, fault: fault)
            try crowd.finish()
            noticed = crowd.world.violations
            if noticed.contains(where: { $0.contains(words) }) { return }
        }
        Issue.record("no seed notices it for what it is: \(noticed.prefix(5))")
    }
}
