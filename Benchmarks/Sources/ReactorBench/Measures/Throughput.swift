/// Actions per second, compared with `redis-benchmark`.
struct Throughput {
    let bench: Bench

    func rows() throws -> [Row] {
        try [(16, 1.5), (64, 2), (1_024, 3)].map { window, target in
            try row(clients: 1, window: window, target)
        } + [row(clients: 50, window: 16, 1.5)]
    }

    private func row(clients: Int, window: Int, _ target: Double) throws -> Row {
        let rounds = try Rounds(
            bench.effort.rounds,
            [
                (
                    "ours",
                    {
                        try bench.timed(
                            "actions", on: bench.daemon,
                            ["--window", "\(window)", "--clients", "\(clients)"])
                    }
                ),
                (
                    "redis",
                    { ["rate": try bench.redisBenchmark(window: window, clients: clients)] }
                ),
            ])
        return Row(
            measure: "actions/s, \(clients) client\(clients == 1 ? "" : "s"), window \(window)",
            placement: bench.placement.rawValue, unit: .perSecond,
            ours: try rounds.median("ours.rate"), peer: try rounds.median("redis.rate"),
            against: "redis-benchmark", target: .atLeast(target))
    }
}
