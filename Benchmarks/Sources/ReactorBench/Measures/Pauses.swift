import Foundation

/// The longest time in which the daemon answers no client during snapshots, compared with the
/// daemon without snapshots, and the part of that time spent by the daemon itself.
struct Pauses {
    let bench: Bench

    func rows() throws -> [Row] {
        let keys = bench.effort.history * 1_000
        let nodes = bench.effort.history * 100
        return try rows(
            "\(keys.grouped) keys in one map",
            DaemonSetup(hasMap: true, durability: .strict), keys: keys, ["--keys", "\(keys)"])
            + rows(
                "\(nodes.grouped) nodes",
                DaemonSetup(reactors: nodes, durability: .strict), keys: 0,
                ["--reactors", "\(nodes)"])
    }

    private func rows(
        _ what: String, _ setup: DaemonSetup, keys: Int, _ words: [String]
    ) throws -> [Row] {
        var (taking, never) = (setup, setup)
        taking.snapshots = .allTheTime
        taking.dataDirectory = try bench.freshDataDirectory()
        never.snapshots = .never
        let contenders = [("taking", taking), ("never", never)]
        let servers = try contenders.map { name, setup in
            let server = try bench.daemon(setup)
            if keys > 0 {
                _ = try bench.load(["fill", "--socket", server.socket, "--keys", "\(keys)"])
            }
            return (name, server)
        }
        let before = try newestSnapshot(in: taking.dataDirectory ?? "")
        // A snapshot takes a second or two, and begins a second after a change.
        let seconds = max(4, bench.effort.seconds * 4)
        let rounds = try Rounds(
            bench.effort.rounds,
            servers.map { name, server in
                (
                    name,
                    {
                        try bench.load(
                            ["ping", "--socket", server.socket, "--seconds", "\(seconds)"] + words)
                    }
                )
            })
        let after = try newestSnapshot(in: taking.dataDirectory ?? "")
        guard after > before else {
            throw LoadError("\(what): no snapshot was taken during the load")
        }
        func row(_ name: String, _ result: String, _ target: Row.Target?) throws -> Row {
            Row(
                measure: "\(name), snapshot of \(what)", placement: bench.placement.rawValue,
                unit: .nanoseconds, ours: try rounds.median("taking.\(result)"),
                peer: try rounds.median("never.\(result)"), against: "itself without",
                target: target)
        }
        return [
            try row("ping p50", "p50", nil), try row("ping p99.99", "p9999", nil),
            try row("longest ping", "longest", .under(1_000_000)),
            try row("longest change", "change.longest", nil),
            try slices(what, words),
        ]
    }

    /// Measures the serving thread's share of a snapshot without interruptions.
    private func slices(_ what: String, _ words: [String]) throws -> Row {
        let slices = try bench.load(["slices"] + words)
        guard let longest = slices["longest"] else { throw LoadError("slices: no longest") }
        return Row(
            measure: "longest slice, snapshot of \(what)", placement: bench.placement.rawValue,
            unit: .nanoseconds, ours: longest, peer: nil, against: "", target: .under(1_000_000))
    }

    /// Returns the row number of the newest snapshot.
    private func newestSnapshot(in directory: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: directory).compactMap { name in
            name.split(whereSeparator: { "-.".contains($0) }).dropFirst().first.flatMap { Int($0) }
        }.max() ?? 0
    }
}
