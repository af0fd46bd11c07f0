import Logging
import ReactorCluster
import ReactorCore
import ReactorLoop
import ReactorThreads
import ReactorWire
import StockReactors
import TestPrograms

@testable import ReactorDaemon
@testable import ReactorJournal
@testable import ReactorServer

/// What a ``ScriptedLog`` keeps while its node is not running: one log for one node.
struct ScriptedState {
    var entries: [StoredEntry] = []
    var revision: UInt64 = 1
    var term: UInt64 = 0
    var leader: LeaderRecord?
    /// The last report of each node, with its version.
    var reports: [UInt8: NodeSighting] = [:]
    /// Whether the log answers.
    var isUp = true

    var head: LogPosition { entries.last?.position ?? .beginning }

    /// The events that answer a call.
    mutating func answer(_ call: EngineCall) -> [EngineEvent] {
        revision += 1
        switch call {
        case .announce(let report):
            let version = (reports[report.node.index]?.version ?? 0) + 1
            reports[report.node.index] = NodeSighting(version: version, report: report)
            return [.announced(version: version)]
        case .look, .confirm:
            let nodes = reports.sorted { $0.key < $1.key }.map(\.value)
            return [
                .sighting(
                    LeaderSighting(head: head, term: term, leader: leader, beat: 1, nodes: nodes))
            ]
        case .watch(let position):
            let missing = entries.filter { $0.position.number > position.number }
            return missing.isEmpty ? [] : [.entries(missing)]
        case .unwatch: return []
        case .takeOver(_, let record):
            (term, leader) = (revision, record)
            return [.won(term: term, head: head)]
        case .append(let entry, let expected, _):
            let position = LogPosition(number: expected + 1, revision: revision)
            entries.append(StoredEntry(position: position, bytes: entry))
            return [.appended(position)]
        case .beat: return [.beaten]
        case .vacate(_, let successor):
            (term, leader) = (revision, .vacant(successor: successor))
            return [.vacated(term: term)]
        case .compact: return [.trimmed]
        }
    }
}

/// A log that answers each call soon, from a state that outlives it.
private final class ScriptedLog: ClusterLog {
    var onEvent: ((EngineEvent) -> Void)?
    private let state: Guarded<ScriptedState>
    private let handle: LoopHandle

    init(_ state: Guarded<ScriptedState>, on handle: LoopHandle) {
        (self.state, self.handle) = (state, handle)
    }

    func open() { if state.withLock(\.isUp) { post([.up]) } }

    func close() { onEvent = nil }

    func send(_ call: EngineCall) { post(state.withLock { $0.answer(call) }) }

    private func post(_ events: [EngineEvent]) {
        let handle = handle
        let log = Confined(self) { handle.isOnLoop }
        for event in events { _ = handle.post { log.open().onEvent?(event) } }
    }
}

/// A shell with a seat in a cluster of three nodes, at a scripted log, on its own thread.
final class SeatRig: Sendable {
    /// Where clients and administrators connect.
    let (socket, adminSocket): (String, String)
    private let handle: LoopHandle
    private let core: Confined<Core>
    private let thread: WorkThread

    private final class Core {
        /// Opens the data directory, which the rig before may hold a moment longer on a busy machine.
        private static func history(_ data: DataConfig) throws -> History {
            for _ in 0..<1_000 {
                do throws(DaemonError) {
                    return try History(data, environment: [:], uid: 0, Logger(label: "tests"))
                } catch {
                    guard case .journal(.inUse) = error else { throw error }
                    WorkThread.pause(for: .milliseconds(10))
                }
            }
            return try History(data, environment: [:], uid: 0, Logger(label: "tests"))
        }

        let shell: ServerShell
        let listeners: [Listener]
        let log: ScriptedLog

        init(
            _ state: Guarded<ScriptedState>, in home: TestDirectory, name: String,
            _ reactors: some Reactor, _ sockets: [String]
        ) throws {
            let loop = try EventLoop()
            log = ScriptedLog(state, on: loop.handle)
            var data = DataConfig()
            data.directory = home.path("data")
            let history = try Self.history(data)
            let nodes = [("a", 1), ("b", 2), ("c", 3)].map {
                ClusterConfig.Member($0.0, ClusterNode($0.1))
            }
            let own = nodes.first { $0.name == name } ?? nodes[0]
            var config = ClusterConfig(
                name: "house", node: own, engine: "/nowhere", nodes: nodes)
            // No test that stands still on a busy machine has its clients closed.
            config.staleMax = .seconds(600)
            let seed = JournalPosition.beginning(seed: history.instance.seed)
            let origin = ClusterOrigin(
                instance: history.instance.words, epoch: 7, sequence: 0,
                row: RowPosition(number: 0, chain: seed.chain), time: 0)
            shell = try ServerShell(
                reactors, on: loop, history: history, limits: ServerLimits(), name: name,
                ownerUID: nil, cluster: ClusterStart(config, origin, log),
                random: { UInt64.random(in: .min ... .max) })
            listeners = try sockets.map { try Listener(at: UnixAddress($0), on: loop) }
            for (index, listener) in listeners.enumerated() {
                listener.onAccept = { [shell] in shell.accept($0, isAtAdminSocket: index == 1) }
                listener.resumeAccepting()
            }
            shell.onInquiry = { [unowned shell] inquiry in
                guard case .cluster = inquiry.ask, let status = shell.seat?.status else { return }
                shell.server.answer(
                    inquiry, with: .success(status.wireBytes()), at: shell.loop.now)
            }
            shell.begin()
        }
    }

    /// Starts node `name` with the data directory in `home`.
    init(
        _ state: Guarded<ScriptedState>, in home: TestDirectory, node name: String = "c",
        _ reactors: some Reactor = ReactorGroup([("visits", Counter())])
    ) throws {
        let number = UInt32.random(in: .min ... .max)
        (socket, adminSocket) = (home.path("s\(number)"), home.path("a\(number)"))
        let core = try Core(state, in: home, name: name, reactors, [socket, adminSocket])
        handle = core.shell.loop.handle
        let confined = Confined(core)
        self.core = confined
        thread = try WorkThread(name: "seat") {
            let shell = confined.open().shell
            shell.loop.run()
            shell.close()
            shell.loop.close()
        }
    }

    /// Ends it at once. The data directory is free once the object is released.
    func stop() {
        handle.stop()
        thread.join()
    }

    /// Makes the log answer from here on.
    func connect(_ state: Guarded<ScriptedState>) {
        state.withLock { $0.isUp = true }
        let core = core
        _ = handle.post { core.open().log.open() }
    }

    /// What `body` returns on the loop's thread.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (ServerShell) -> Value
    ) -> Value {
        let (result, bell, core) = (Guarded<Value?>(nil), Bell(), core)
        _ = handle.post {
            let value = body(core.open().shell)
            result.withLock { $0 = value }
            bell.ring()
        }
        bell.wait()
        guard let value = result.withLock({ $0 }) else { preconditionFailure("no value") }
        return value
    }
}
