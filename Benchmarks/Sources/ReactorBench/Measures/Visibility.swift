/// The time from a change in one client until another shows it, compared with `PUBLISH`.
struct Visibility {
    let bench: Bench

    func rows() throws -> [Row] {
        let rounds = try Rounds(
            bench.effort.rounds,
            [
                ("ours", { try bench.timed("visible", on: bench.daemon) }),
                ("redis", { try bench.timed("redis-visible", on: bench.redis) }),
            ])
        return try ["p50", "p99"].map { percentile in
            Row(
                measure: "visible in another's mirror \(percentile)",
                placement: bench.placement.rawValue, unit: .nanoseconds,
                ours: try rounds.median("ours.\(percentile)"),
                peer: try rounds.median("redis.\(percentile)"), against: "Redis PUBLISH",
                target: .below)
        }
    }
}
