/// The cost of idle connections: their memory, and their effect on active clients.
struct Crowd {
    let bench: Bench

    func rows() throws -> [Row] {
        try [memory()] + connections() + stuckReaders()
    }

    private func memory() throws -> Row {
        let count = 1_000
        func bytes(of server: ServerProcess, _ words: [String]) throws -> Double {
            let before = server.residentBytes
            let crowd = try bench.lasting(
                "idle", on: server, ["--connections", "\(count)"] + words)
            let after = server.residentBytes
            try crowd.endInput()
            return max(0, after - before) / Double(count)
        }
        // Freed memory is reused, so only a new server shows the increase.
        return try Row(
            measure: "memory per idle connection", placement: bench.placement.rawValue,
            unit: .bytes,
            ours: bytes(of: bench.daemon(DaemonSetup()), []),
            peer: bytes(of: bench.redis(.memory), ["--redis"]),
            against: "Redis", target: .below)
    }

    private func connections() throws -> [Row] {
        let words = ["--window", "64"]
        let server = try bench.daemon(DaemonSetup())
        let aloneTrip = try trip(server)
        let aloneBulk = try bench.timed("actions", on: server, words)
        let crowd = try bench.lasting("idle", on: server, ["--connections", "5000"])
        let crowdTrip = try trip(server)
        let crowdBulk = try bench.timed("actions", on: server, words)
        try crowd.endInput()
        return try [
            row(
                "round trip p50, 5,000 idle connections", .nanoseconds, crowdTrip, aloneTrip, "p50",
                1.1),
            cost("cost per action, 5,000 idle connections", crowdBulk, aloneBulk, 1.1),
        ]
    }

    private func stuckReaders() throws -> [Row] {
        let server = try bench.daemon(DaemonSetup())
        let alone = try trip(server)
        let crowd = try bench.lasting("idle", on: server, ["--connections", "100", "--stuck"])
        // Fills the buffers of the clients that do not read.
        _ = try bench.timed("actions", on: server, ["--window", "64"])
        let beside = try trip(server)
        try crowd.endInput()
        return [
            try row(
                "round trip p99, 100 never-reading clients", .nanoseconds, beside, alone, "p99", 1.2
            )
        ]
    }

    private func trip(_ server: ServerProcess) throws -> [String: Double] {
        let rounds = try Rounds(
            bench.effort.rounds, [("trip", { try bench.timed("round-trip", on: server) })])
        return ["p50": try rounds.median("trip.p50"), "p99": try rounds.median("trip.p99")]
    }

    private func row(
        _ measure: String, _ unit: Row.Unit, _ ours: [String: Double], _ alone: [String: Double],
        _ result: String, _ bound: Double
    ) throws -> Row {
        guard let value = ours[result], let base = alone[result] else {
            throw LoadError("\(measure): no load reported it")
        }
        return Row(
            measure: measure, placement: bench.placement.rawValue, unit: unit, ours: value,
            peer: base, against: "itself alone", target: .atMost(bound))
    }

    /// Time per action, computed from two rates.
    private func cost(
        _ measure: String, _ ours: [String: Double], _ alone: [String: Double], _ bound: Double
    ) throws -> Row {
        try row(
            measure, .nanoseconds, ours.mapValues { 1e9 / $0 }, alone.mapValues { 1e9 / $0 },
            "rate", bound)
    }
}
