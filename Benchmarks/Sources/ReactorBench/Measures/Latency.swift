/// Round trips with one action on the way, beside the floor and Redis.
struct Latency {
    let bench: Bench
    /// Microseconds for which both sides of the spinning variant poll after traffic.
    let spin: Int

    func rows() throws -> [Row] {
        // because two sides on one core have nobody to wait for while they spin
        let spinning = bench.placement == .oneCore ? nil : try bench.daemon(spin: spin)
        let core = bench.placement.serverCore ?? -1
        var contenders: [(name: String, run: () throws -> [String: Double])] = [
            ("ours", { try bench.timed("round-trip", on: bench.daemon) }),
            (
                "floor",
                {
                    try bench.load([
                        "floor", "--seconds", "\(bench.effort.seconds)", "--core=\(core)",
                    ])
                }
            ),
            ("redis", { try bench.timed("redis-round-trip", on: bench.redis) }),
            ("await", { try bench.timed("await", on: bench.daemon) }),
        ]
        if let spinning {
            contenders.append(
                ("spin", { try bench.timed("round-trip", on: spinning, ["--spin", "\(spin)"]) }))
            contenders.append(
                ("spin await", { try bench.timed("await", on: spinning, ["--spin", "\(spin)"]) }))
        }
        let rounds = try Rounds(bench.effort.rounds, contenders)
        return try ["p50", "p99"].flatMap { percentile in
            try rows(percentile, rounds, isSpinning: spinning != nil)
        }
    }

    private func rows(_ percentile: String, _ rounds: Rounds, isSpinning: Bool) throws -> [Row] {
        func row(
            _ name: String, _ contender: String, _ peer: String, _ against: String,
            _ target: Row.Target?
        ) throws -> Row {
            Row(
                measure: "\(name) \(percentile)", placement: bench.placement.rawValue,
                unit: .nanoseconds, ours: try rounds.median("\(contender).\(percentile)"),
                peer: try rounds.median("\(peer).\(percentile)"), against: against,
                target: target)
        }
        var rows = [
            try row("round trip", "ours", "floor", "raw ping-pong", .atMost(1.3)),
            try row("round trip", "ours", "redis", "Redis INCR", .below),
            try row("round trip, await", "await", "redis", "Redis INCR", nil),
        ]
        if isSpinning {
            rows += [
                try row(
                    "round trip, spin \(spin) µs", "spin", "floor", "raw ping-pong", .atMost(1.3)),
                try row("round trip, spin \(spin) µs", "spin", "redis", "Redis INCR", .below),
                try row(
                    "round trip, await, spin \(spin) µs", "spin await", "redis", "Redis INCR", nil),
            ]
        }
        return rows
    }
}
