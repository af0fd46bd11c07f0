/// Actions whose outcomes wait for the disk, compared with Redis's append-only file and a bare
/// commit.
struct Durability {
    let bench: Bench

    func rows() throws -> [Row] {
        let sides = try Sides(bench)
        return try trips(sides)
            + [(1, 16), (1, 64), (1, 1_024), (50, 16)].flatMap { clients, window in
                try bulk(sides, clients: clients, window: window)
            } + [many(sides)]
    }

    /// The servers that are measured in turn.
    private struct Sides {
        let strict: ServerProcess
        let relaxed: ServerProcess
        let always: ServerProcess
        let everySecond: ServerProcess
        /// The data directory of ``strict``.
        let strictData: String

        init(_ bench: Bench) throws {
            strictData = try bench.freshDataDirectory()
            strict = try bench.daemon(
                DaemonSetup(durability: .strict, dataDirectory: strictData))
            relaxed = try bench.daemon(DaemonSetup(durability: .relaxed))
            always = try bench.redis(.strict)
            everySecond = try bench.redis(.relaxed)
        }
    }

    private typealias Contender = (name: String, run: () throws -> [String: Double])

    /// Measures one action in flight.
    private func trips(_ sides: Sides) throws -> [Row] {
        let rounds = try Rounds(
            bench.effort.rounds,
            [
                ("strict", { try bench.timed("round-trip", on: sides.strict) }),
                ("bare", { try commits(like: sides) }),
                ("always", { try bench.timed("redis-round-trip", on: sides.always) }),
                ("relaxed", { try bench.timed("round-trip", on: sides.relaxed) }),
                ("everysec", { try bench.timed("redis-round-trip", on: sides.everySecond) }),
                ("memory", { try bench.timed("round-trip", on: bench.daemon) }),
            ])
        return try ["p50", "p99"].flatMap { percentile in
            try trips(percentile, rounds)
        } + [
            rate(
                "strict, actions/s, 1 client, window 1", rounds, "strict", "always",
                ReplyDurability.strict.redisName, .atLeast(0.8))
        ]
    }

    private func trips(_ percentile: String, _ rounds: Rounds) throws -> [Row] {
        let isMedian = percentile == "p50"
        func row(
            _ durability: ReplyDurability, _ peer: String, _ against: String, _ target: Row.Target?
        ) throws -> Row {
            Row(
                measure: "\(durability.rawValue), round trip \(percentile)",
                placement: bench.placement.rawValue, unit: .nanoseconds,
                ours: try rounds.median("\(durability.rawValue).\(percentile)"),
                peer: try rounds.median("\(peer).\(percentile)"), against: against,
                target: isMedian ? target : nil)
        }
        return [
            try row(.strict, "always", ReplyDurability.strict.redisName, .atMost(1.25)),
            try row(.strict, "bare", "a bare SQLite commit", .atMost(1.2)),
            try row(.relaxed, "everysec", ReplyDurability.relaxed.redisName, nil),
            try row(.memory, "strict", "strict", nil),
        ]
    }

    /// Measures many actions in flight.
    private func bulk(_ sides: Sides, clients: Int, window: Int) throws -> [Row] {
        let words = ["--window", "\(window)", "--clients", "\(clients)"]
        // A disk commits a number of windows per second, whatever their size.
        let requests = min(bench.effort.commits * window * clients, 1_000_000)
        let isOneCommit = clients == 1 && window <= 64
        var contenders: [Contender] = [
            ("strict", { try bench.timed("actions", on: sides.strict, words) }),
            (
                "always",
                {
                    let rate = try bench.redisBenchmark(
                        on: sides.always, window: window, clients: clients, requests: requests)
                    return ["rate": rate]
                }
            ),
            ("relaxed", { try bench.timed("actions", on: sides.relaxed, words) }),
            (
                "everysec",
                {
                    let rate = try bench.redisBenchmark(
                        on: sides.everySecond, window: window, clients: clients)
                    return ["rate": rate]
                }
            ),
            ("memory", { try bench.timed("actions", on: bench.daemon, words) }),
        ]
        if isOneCommit { contenders.insert(("bare", { try commits(like: sides) }), at: 1) }
        let rounds = try Rounds(bench.effort.rounds, contenders)
        let what = "actions/s, \(clients) client\(clients == 1 ? "" : "s"), window \(window)"
        var rows = [
            try rate(
                "strict, \(what)", rounds, "strict", "always", ReplyDurability.strict.redisName,
                .atLeast(isOneCommit ? 0.8 : 2)),
            try rate(
                "relaxed, \(what)", rounds, "relaxed", "everysec",
                ReplyDurability.relaxed.redisName,
                .atLeast(1)),
            try rate("strict, \(what)", rounds, "strict", "memory", "memory", nil),
        ]
        if isOneCommit {
            rows.append(
                Row(
                    measure: "strict, time of a window of \(window)",
                    placement: bench.placement.rawValue, unit: .nanoseconds,
                    ours: Double(window) * 1e9 / (try rounds.median("strict.rate")),
                    peer: try rounds.median("bare.mean"), against: "a bare SQLite commit",
                    target: .atMost(1.2)))
        }
        return rows
    }

    /// Measures so many actions in flight that the disk hardly matters.
    private func many(_ sides: Sides) throws -> Row {
        let words = ["--window", "1000", "--clients", "16"]
        let rounds = try Rounds(
            bench.effort.rounds,
            [
                ("strict", { try bench.timed("actions", on: sides.strict, words) }),
                ("memory", { try bench.timed("actions", on: bench.daemon, words) }),
            ])
        return try rate(
            "strict, actions/s, 16 clients, window 1000", rounds, "strict", "memory", "memory",
            .atLeast(0.5))
    }

    private func commits(like sides: Sides) throws -> [String: Double] {
        try bench.load([
            "commits", "--like", sides.strictData, "--directory", bench.freshDataDirectory(),
            "--seconds", "\(bench.effort.seconds)",
        ])
    }

    private func rate(
        _ measure: String, _ rounds: Rounds, _ ours: String, _ peer: String, _ against: String,
        _ target: Row.Target?
    ) throws -> Row {
        Row(
            measure: measure, placement: bench.placement.rawValue, unit: .perSecond,
            ours: try rounds.median("\(ours).rate"), peer: try rounds.median("\(peer).rate"),
            against: against, target: target)
    }
}
