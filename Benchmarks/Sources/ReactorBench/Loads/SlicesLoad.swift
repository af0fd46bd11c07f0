import ArgumentParser
import ReactorBytes
import ReactorCore
import ReactorServer
import ReactorWire
import StockReactors

/// Measures the serving thread's share of a snapshot: slice by slice, with a change in each turn.
///
/// Involves no other process and no disk. Each slice counts with its shortest duration over all
/// snapshots, since an interruption rarely hits the same slice again.
struct SlicesLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "slices")

    @Option(help: "Counters under /many; 0 for none.")
    var reactors = 0

    @Option(help: "Keys of /map; 0 for none.")
    var keys = 0

    @Option(help: "How many snapshots to take.")
    var snapshots = 9

    /// Number of turns after the last slice that are measured too: the writer still uses the
    /// collected parts while the state changes.
    private static let turnsBehind = 1_000

    func run() throws {
        let root = ReactorGroup([
            (name: "map", reactor: Map()),
            (
                name: "many",
                reactor: ReactorGroup(
                    (0..<reactors).map { (name: WireKey("c\($0)"), reactor: Counter()) })
            ),
        ])
        let recovery = Recovery(of: Tree(root, epoch: 1), limits: ServerLimits())
        var number: UInt64 = 0
        let server = Server(try recovery.finish(epoch: 1, sequence: 0)) {
            number += 1
            return number
        }
        let shell = SlicesShell(server)
        try fill(shell)
        var shortest: [UInt64] = []
        for _ in 0..<snapshots {
            let durations = try slices(shell)
            shortest =
                shortest.isEmpty
                ? durations : zip(shortest, durations).map { min($0, $1) }
        }
        var samples = Samples()
        for duration in shortest { samples.add(duration) }
        report(try samples.summary())
    }

    private func fill(_ shell: SlicesShell) throws {
        for first in stride(from: 0, to: keys, by: 1_000) {
            let pairs = (first..<min(first + 1_000, keys)).map { index in
                WireMap.Pair(key: FillLoad.key(index), value: .bool(true))
            }
            try shell.change("/map", Map.Action.merge(entries: WireMap(pairs)).wireBytes())
            shell.turn()
        }
    }

    /// Measures each turn of a snapshot, and some turns after it.
    private func slices(_ shell: SlicesShell) throws -> [UInt64] {
        let clock = Monotonic()
        var durations: [UInt64] = []
        var parts: [ServerSnapshot.Part] = []
        shell.server.wantSnapshot()
        var left = Self.turnsBehind
        while left > 0 {
            // The changes must be the same in every snapshot.
            let index = durations.count &* 7_919
            let start = clock.now
            if keys > 0 {
                let key = FillLoad.key(index % keys)
                try shell.change(
                    "/map", Map.Action.set(key: key, value: .integer(1)).wireBytes())
            } else {
                try shell.change(
                    "/many/c\(index % reactors)", Counter.Action.increment(by: 1).wireBytes())
            }
            shell.turn()
            parts += shell.gather()
            durations.append(clock.now - start)
            if shell.isIdle { left -= 1 }
        }
        return durations
    }
}

/// Carries out the server's outputs and keeps no history.
private final class SlicesShell {
    let server: Server
    private var snapshot: ServerSnapshot?

    init(_ server: Server) { self.server = server }

    /// Whether no snapshot is in progress.
    var isIdle: Bool { snapshot == nil }

    func change(_ path: String, _ action: [UInt8]) throws {
        guard let node = server.tree.node(at: try SlicePath(path)),
            case .applied = server.tree.dispatch(
                to: node, action.span, by: .daemon, ordinal: 1)
        else { throw LoadError("\(path): expected applied") }
    }

    func turn() {
        server.endTurn(at: Monotonic().now)
        while true {
            let outputs = server.takeOutputs()
            if outputs.isEmpty { return }
            for output in outputs {
                switch output {
                case .append(let batch): server.appended(batch.turn, at: Monotonic().now)
                case .beginSnapshot: snapshot = server.snapshot
                default: break
                }
            }
        }
    }

    func gather() -> [ServerSnapshot.Part] {
        guard let snapshot else { return [] }
        let parts = snapshot.gather()
        if snapshot.isComplete { self.snapshot = nil }
        return parts
    }
}
