/// Round trips with one action in flight, compared with the lower bound and Redis.
struct Latency {
    let bench: Bench

    func rows() throws -> [Row] {
        // On one core neither side polls, so there is no second case to measure.
        let sleeping =
            bench.placement == .oneCore ? nil : try bench.daemon(DaemonSetup(polls: false))
        let core = bench.placement.serverCore ?? -1
        let seconds = "\(bench.effort.seconds)"
        var contenders: [(name: String, run: () throws -> [String: Double])] = [
            ("ours", { try bench.timed("round-trip", on: bench.daemon) }),
            ("floor", { try bench.load(["floor", "--seconds", seconds, "--core=\(core)"]) }),
            ("redis", { try bench.timed("redis-round-trip", on: bench.redis) }),
            ("await", { try bench.timed("await", on: bench.daemon) }),
            ("executor", { try bench.timed("await", on: bench.daemon, ["--on-executor"]) }),
        ]
        if let sleeping {
            contenders += [
                ("sleeping", { try bench.timed("round-trip", on: sleeping, ["--spin", "0"]) }),
                ("sleeping await", { try bench.timed("await", on: sleeping, ["--spin", "0"]) }),
            ]
        }
        let rounds = try Rounds(bench.effort.rounds, contenders)
        return try ["p50", "p99"].flatMap { percentile in
            try rows(percentile, rounds, isSleeping: sleeping != nil)
        }
    }

    private func rows(_ percentile: String, _ rounds: Rounds, isSleeping: Bool) throws -> [Row] {
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
            try row(
                "round trip, await on the client's executor", "executor", "redis", "Redis INCR",
                nil),
        ]
        if isSleeping {
            let name = "round trip, no polling"
            rows += [
                try row(name, "sleeping", "floor", "raw ping-pong", nil),
                try row(name, "sleeping", "redis", "Redis INCR", nil),
                try row("\(name), await", "sleeping await", "redis", "Redis INCR", nil),
            ]
        }
        return rows
    }
}
