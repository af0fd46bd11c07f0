/// The cost of a dispatch with many reactors to choose from.
struct Scale {
    let bench: Bench

    func rows() throws -> [Row] {
        let one = try measured(reactors: 1)
        return try [1_000, 100_000].flatMap { reactors in
            let many = try measured(reactors: reactors)
            let name = reactors == 1_000 ? "1,000 reactors" : "100,000 reactors"
            return [
                row("round trip p50, \(name)", many.trip, one.trip, 1.25),
                row("cost per action, window 64, \(name)", many.cost, one.cost, 4),
            ]
        }
    }

    /// Nanoseconds of a round trip, and per action with many in flight.
    private func measured(reactors: Int) throws -> (trip: Double, cost: Double) {
        let server = try bench.daemon(DaemonSetup(reactors: reactors))
        let words = ["--reactors", "\(reactors)"]
        let rounds = try Rounds(
            bench.effort.rounds,
            [
                ("trip", { try bench.timed("round-trip", on: server, words) }),
                ("bulk", { try bench.timed("actions", on: server, words + ["--window", "64"]) }),
            ])
        return (try rounds.median("trip.p50"), 1e9 / (try rounds.median("bulk.rate")))
    }

    private func row(_ measure: String, _ ours: Double, _ one: Double, _ bound: Double) -> Row {
        Row(
            measure: measure, placement: bench.placement.rawValue, unit: .nanoseconds,
            ours: ours, peer: one, against: "itself with one", target: .atMost(bound))
    }
}
