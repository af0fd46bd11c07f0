import ReactorClient
import ReactorLoop

/// The time from a daemon's start until it serves clients, with a history to read.
struct Start {
    let bench: Bench

    func rows() throws -> [Row] {
        // Only the daemon runs, so one placement is enough.
        guard bench.placement == .unpinned else { return [] }
        let empty = try time(ofStarting: try kept { _ in 0 }.setup)
        let rows = try kept(hasMap: false) { server in
            try sent(to: server, bench.effort.history * 100, window: 1)
        }
        let actions = try kept { server in
            try sent(to: server, bench.effort.history * 10_000, window: 1_024)
        }
        let keys = bench.effort.history * 1_000
        let map = try kept(hasMap: true, isClosed: true) { server in
            _ = try bench.load(["fill", "--socket", server.socket, "--keys", "\(keys)"])
            return Double(keys)
        }
        let (rowsTime, actionsTime) = (
            try time(ofStarting: rows.setup), try time(ofStarting: actions.setup)
        )
        return [
            row("start, no history", .nanoseconds, empty),
            row("start, \(Int(rows.count).grouped) rows of journal", .nanoseconds, rowsTime),
            row("replay, rows/s", .perSecond, rows.count * 1e9 / max(1, rowsTime - empty)),
            row("start, \(Int(actions.count).grouped) actions", .nanoseconds, actionsTime),
            row(
                "replay, actions/s", .perSecond,
                actions.count * 1e9 / max(1, actionsTime - empty)),
            row(
                "start, snapshot of \(keys.grouped) keys", .nanoseconds,
                try time(ofStarting: map.setup)),
        ]
    }

    private func sent(to server: ServerProcess, _ count: Int, window: Int) throws -> Double {
        let words = ["--total", "\(count)", "--window", "\(window)"]
        return try bench.timed("actions", on: server, words)["count"] ?? 0
    }

    /// Creates a history with `make`; it ends with a crash, or with a last snapshot if
    /// `isClosed`.
    private func kept(
        hasMap: Bool = false, isClosed: Bool = false, _ make: (ServerProcess) throws -> Double
    ) throws -> (setup: DaemonSetup, count: Double) {
        let setup = DaemonSetup(
            hasMap: hasMap, durability: .relaxed, snapshots: .never,
            dataDirectory: try bench.freshDataDirectory())
        let server = try bench.daemon(setup)
        let count = try make(server)
        if isClosed { server.terminate() } else { server.kill() }
        return (setup, count)
    }

    /// Nanoseconds from the start of the process until it welcomes a client.
    private func time(ofStarting setup: DaemonSetup) throws -> Double {
        let rounds = try Rounds(
            bench.effort.rounds,
            [
                (
                    "start",
                    {
                        let clock = Monotonic()
                        let start = clock.now
                        let server = try bench.daemon(setup)
                        let loop = try EventLoop()
                        _ = try LoopClient.connected(on: loop, to: server.socket)
                        let end = clock.now
                        loop.close()
                        // An orderly end would leave a snapshot for the next round.
                        server.kill()
                        return ["time": Double(end - start)]
                    }
                )
            ])
        return try rounds.median("start.time")
    }

    private func row(_ measure: String, _ unit: Row.Unit, _ value: Double) -> Row {
        Row(
            measure: measure, placement: bench.placement.rawValue, unit: unit, ours: value,
            peer: nil, against: "", target: nil)
    }
}
