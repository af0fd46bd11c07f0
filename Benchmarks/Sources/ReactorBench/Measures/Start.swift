import ReactorClient
import ReactorLoop

/// From the start of a daemon until it serves, with a history to read.
struct Start {
    let bench: Bench

    func rows() throws -> [Row] {
        // because nobody else runs meanwhile, one placement tells all there is to tell
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

    /// A history that `make` made; it ends with a crash, or with a last snapshot if `isClosed`.
    private func kept(
        hasMap: Bool = false, isClosed: Bool = false, _ make: (ServerProcess) throws -> Double
    ) throws -> (setup: DaemonSetup, count: Double) {
        let setup = DaemonSetup(
            hasMap: hasMap, keeping: .relaxed, snapshots: .never,
            dataDirectory: try bench.freshDataDirectory())
        let server = try bench.daemon(setup)
        let count = try make(server)
        if isClosed { server.terminate() } else { server.kill() }
        return (setup, count)
    }

    /// Nanoseconds from the start of the process until a client is welcome.
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
                        // because an orderly end would leave a snapshot to the next round
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
