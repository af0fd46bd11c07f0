/// Deliveries per second from one writer to many mirrors, compared with Redis's pub/sub.
struct FanOut {
    let bench: Bench

    func rows() throws -> [Row] {
        try [100, 1_000].flatMap { subscribers in
            try [(1, 1.3), (64, 3)].map { window, target in
                try row(subscribers, window: window, target)
            }
        }
    }

    private func row(_ subscribers: Int, window: Int, _ target: Double) throws -> Row {
        let words = [
            "--subscribers", "\(subscribers)", "--window", "\(window)", "--actions",
            // The window matters only with some hundred actions.
            "\(max(200, bench.effort.fanOutDeliveries / subscribers))",
        ]
        let rounds = try Rounds(
            bench.effort.rounds,
            [
                ("ours", { try bench.timed("fan-out", on: bench.daemon, words) }),
                ("redis", { try bench.timed("redis-fan-out", on: bench.redis, words) }),
            ])
        return Row(
            measure: "deliveries/s, \(subscribers) subscribers, window \(window)",
            placement: bench.placement.rawValue, unit: .perSecond,
            ours: try rounds.median("ours.rate"), peer: try rounds.median("redis.rate"),
            against: "Redis pub/sub", target: .atLeast(target))
    }
}
