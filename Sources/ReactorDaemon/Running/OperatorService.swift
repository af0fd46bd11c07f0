import CoreMetrics
import Glibc
import Logging
import ReactorJournal
import ReactorLoop
import ReactorServer
import ReactorThreads
import ReactorWire

/// Serves the operator: answers questions about the daemon itself, and shows its metrics at a
/// socket and in a file.
///
/// *Place*: beside the shell, whose figures it gathers between two turns. Threads that it starts
/// write the text and the file, since a disk may not answer: at most one thread for each of the two.
/// *Owner*: the loop's thread.
final class OperatorService {
    private var config: MetricsConfig
    private let logger: Logger
    private let loop: EventLoop
    /// The metrics' socket and its connections, if there is one.
    let endpoint: MetricsEndpoint?
    /// Returns the number of lines that the log has dropped.
    private let droppedLogLines: @Sendable () -> UInt64
    private var daemon: Parts?
    private var startSeconds = 0.0
    /// Requests whose text is being written, and those that came later.
    private var texts = RequestQueue<(String) -> Void>()
    private var file = TextFile()
    /// The path by which threads reach this object; nil once it is closed.
    private let target = Guarded<Confined<OperatorService>?>(nil)

    /// What the answers are about, and what carries out requests.
    private typealias Parts = (
        shell: ServerShell, sockets: DaemonSockets, reloader: ConfigReloader, restarter: Restarter
    )

    /// Opens the metrics' socket, if `config` has one, or takes over `handed`.
    ///
    /// *Throws*: if the socket cannot be bound.
    init(
        _ config: MetricsConfig, _ logger: Logger, on loop: EventLoop,
        succeedingTo handed: HandedSocket? = nil,
        droppedLogLines: @escaping @Sendable () -> UInt64
    ) throws(LoopError) {
        self.config = config
        self.logger = logger
        self.loop = loop
        self.droppedLogLines = droppedLogLines
        guard let path = config.socket else {
            endpoint = nil
            return
        }
        endpoint = try MetricsEndpoint(path, on: loop, succeedingTo: handed)
    }

    /// Begins to answer questions, those of clients of `shell` and those at the metrics' socket.
    func begin(
        _ shell: ServerShell, _ sockets: DaemonSockets, _ reloader: ConfigReloader,
        _ restarter: Restarter
    ) {
        daemon = (shell, sockets, reloader, restarter)
        startSeconds = Double(WallClock.milliseconds()) / 1_000
        let handle = loop.handle
        target.withLock { $0 = Confined(self) { handle.isOnLoop } }
        shell.onInquiry = { [unowned self] in take($0) }
        endpoint?.begin { [unowned self] path, respond in answer(path, respond) }
    }

    /// Writes the file from here on as `config` says; the socket stays.
    func setFile(_ config: MetricsConfig) { self.config = config }

    /// Passes the time, once a second; `lag` is the delay of this call.
    func tick(lag: UInt64) {
        guard let shell = daemon?.shell else { return }
        var counts = shell.keeper?.diskCounts ?? ShellCounts()
        counts.logLinesDropped = droppedLogLines()
        counts.cluster = shell.seat?.figures.named ?? [:]
        shell.server.setCounts(counts)
        shell.meter.record(lag: lag)
        endpoint?.tick(at: loop.now)
        writeFile()
    }

    /// Closes the socket, and releases the shell. Texts that are being written are dropped.
    func close() {
        target.withLock { $0 = nil }
        daemon?.shell.onInquiry = nil
        daemon = nil
        endpoint?.close()
    }

    /// The figures now.
    private func report() -> MetricsReport? {
        guard let (shell, sockets, reloader, _) = daemon else { return nil }
        return MetricsReport(
            version: Daemon.version, startSeconds: startSeconds, server: shell.server.figures,
            loop: shell.meter.figures, memoryMax: shell.meter.ceiling.byteCountMax,
            memoryReserved: shell.meter.ceiling.reservedByteCount,
            history: shell.historyFigures, cluster: shell.seat?.figures,
            slow: shell.meter.slowLog.counts, parkCount: sockets.parkCount, reload: reloader.status,
            program: Daemon.collectedMetrics)
    }
}

// MARK: - Questions
extension OperatorService {
    private func take(_ inquiry: Inquiry) {
        switch inquiry.ask {
        case .metrics:
            withText { [unowned self] text in reply(to: inquiry, .success(text.wireBytes())) }
        case .cluster: replyWithStatus(to: inquiry)
        case .clients, .kick, .slowLog, .activity, .reload, .restart, .stepDown:
            guard
                inquiry.isAdministrator
                    || Self.mayAdminister(inquiry.peer.uid, owner: geteuid())
            else {
                // The answers show what other users do.
                let text = "only uid \(geteuid()), the daemon's own, and root may ask this"
                return reply(to: inquiry, .failure(Refusal(.forbidden, text)))
            }
            administer(inquiry)
        case .get, .select, .describe, .tree, .stats, .limits, .checksum, .types, .past, .snapshot,
            .backup, .keepBackup, .log, .export, .sync:
            preconditionFailure("not a question about the daemon: \(inquiry.ask)")
        }
    }

    /// Whether a user may see what others do, and end their connections.
    static func mayAdminister(_ uid: UInt32, owner: UInt32) -> Bool { uid == owner || uid == 0 }

    private func administer(_ inquiry: Inquiry) {
        guard let server = daemon?.shell.server else { return }
        switch inquiry.ask {
        case .kick(let number):
            guard let entry = server.kick(ConnectionID(number), at: loop.now) else {
                let text = "there is no connection \(number): see `reactorctl clients`"
                return reply(to: inquiry, .failure(Refusal(.notFound, text)))
            }
            logger.notice(
                "an operator ended a connection",
                metadata: [
                    "connection": "\(number)", "uid": "\(entry.uid)", "pid": "\(entry.pid)",
                    "byUID": "\(inquiry.peer.uid)", "byPID": "\(inquiry.peer.pid)",
                ])
            reply(to: inquiry, .success(entry.wireBytes()))
        case .slowLog(let number):
            let entries = daemon?.shell.meter.slowLog.entries(after: number) ?? []
            reply(to: inquiry, .success(entries.wireBytes()))
        case .reload(let isDryRun):
            daemon?.reloader.take(
                ReloadRequest(isDryRun: isDryRun, caller: inquiry.peer) { [unowned self] result in
                    reply(to: inquiry, result.map { $0.wireBytes() })
                })
        case .restart: daemon?.restarter.take(inquiry)
        case .stepDown(let successor):
            do throws(Refusal) {
                try daemon?.shell.seat?.stepDown(to: successor)
            } catch { return reply(to: inquiry, .failure(error)) }
            replyWithStatus(to: inquiry)
        case .activity:
            guard let activity = activity() else { return }
            reply(to: inquiry, .success(activity.wireBytes()))
        default: reply(to: inquiry, .success(server.clients.wireBytes()))
        }
    }

    private func replyWithStatus(to inquiry: Inquiry) {
        guard let status = daemon?.shell.seat?.status else {
            let text = "this daemon is in no cluster: its configuration has no `cluster:`"
            return reply(to: inquiry, .failure(Refusal(.notFound, text)))
        }
        reply(to: inquiry, .success(status.wireBytes()))
    }

    /// The figures for a live view, as of now.
    private func activity() -> DaemonActivity? {
        guard let shell = daemon?.shell else { return nil }
        let (server, figures) = (shell.server.activity, shell.meter.figures)
        return DaemonActivity(
            time: loop.now, counters: server.counters,
            residentBytes: ProcessUsage().residentBytes, nodes: server.nodes,
            otherActions: server.otherActions, clients: server.clients, bounds: Histogram.bounds,
            actionDurations: figures.actions.counts, turnDurations: figures.turns.counts,
            commitDurations: figures.commits.counts, alarms: alarms(of: shell).lines)
    }

    private func alarms(of shell: ServerShell) -> DaemonAlarms {
        var alarms = DaemonAlarms()
        (alarms.admission, alarms.isStateFull) = (shell.server.admission, shell.server.isStateFull)
        (alarms.pressure, alarms.memory) = (
            shell.meter.ceiling.pressure, shell.meter.ceiling.summary
        )
        alarms.isDiskScarce = (shell.keeper?.diskLevel ?? .normal) != .normal
        alarms.hasSnapshotFailed = shell.keeper?.hasSnapshotFailed ?? false
        alarms.isFileRefused = !(daemon?.reloader.status.isSuccess ?? true)
        return alarms
    }

    private func reply(to inquiry: Inquiry, _ result: Result<[UInt8], Refusal>) {
        daemon?.shell.server.answer(inquiry, with: result, at: loop.now)
    }

    /// Answers a request at the metrics' socket.
    private func answer(_ path: String, _ respond: @escaping (HTTPResponse) -> Void) {
        switch path {
        case "/metrics": withText { respond(HTTPResponse(metrics: Array($0.utf8))) }
        case "/livez": respond(HTTPResponse(.ok, "ok"))
        case "/readyz":
            let server = daemon?.shell.server
            if server?.isDraining ?? true { return respond(HTTPResponse(.unavailable, "draining")) }
            respond(
                server?.mode == .cut
                    ? HTTPResponse(.unavailable, "cut off") : HTTPResponse(.ok, "ok"))
        default:
            respond(HTTPResponse(.notFound, "served here: /metrics, /livez and /readyz"))
        }
    }
}

// MARK: - The text
extension OperatorService {
    /// Calls `then` with the metrics, as of a moment after this call.
    private func withText(_ then: @escaping (String) -> Void) {
        texts.add(then)
        writeText()
    }

    private func writeText() {
        guard texts.begin(), let report = report() else { return }
        let (handle, target) = (loop.handle, target)
        run(name: "metrics") {
            let text = report.formatted()
            _ = handle.post { target.withLock { $0 }?.open().deliver(text) }
        }
    }

    private func deliver(_ text: String) {
        for then in texts.end() { then(text) }
        writeText()
    }

    /// Replaces the file if its time has come.
    private func writeFile() {
        guard let path = config.textfile, file.begin(at: loop.now, every: config.every),
            let report = report()
        else { return }
        let (handle, target) = (loop.handle, target)
        run(name: "metrics file") {
            var failure: CallFailure?
            do throws(CallFailure) {
                try FileSystem.replace(path, with: Array(report.formatted().utf8))
            } catch {
                failure = error
            }
            let result = failure
            _ = handle.post { target.withLock { $0 }?.open().endFile(result) }
        }
    }

    private func endFile(_ failure: CallFailure?) {
        guard let failure, file.end(failure: failure.message) else { return file.end() }
        logger.warning(
            "the metrics' file cannot be written: \(failure.message)",
            metadata: ["file": "\(failure.subject)"])
    }

    // Without a thread, the loop's thread does the work.
    private func run(name: String, _ work: @escaping @Sendable () -> Void) {
        if (try? WorkThread(name: name, takesSignals: false, work)) == nil { work() }
    }
}

// MARK: - Metrics of the program's own code
extension Daemon {
    /// Shows what the program's code records through swift-metrics with the daemon's own metrics.
    ///
    /// Call it once, before the code makes its first metric. `DaemonCommand` does so; a program that
    /// creates a ``Daemon`` itself may, or selects another backend.
    public static func collectMetrics() { MetricsSystem.bootstrap(ProgramMetrics()) }

    /// The metrics that ``collectMetrics()`` collects.
    static var collectedMetrics: ProgramMetrics? { MetricsSystem.factory as? ProgramMetrics }
}

/// The times at which a file is written, and whether that fails.
struct TextFile {
    private var isWriting = false
    private var lastStart: UInt64?
    private var lastFailure: String?

    /// Begins to write if nothing is written and `interval` has passed; returns whether it did.
    mutating func begin(at now: UInt64, every interval: Duration) -> Bool {
        // The calls come once a second, and not earlier than planned: half a second of tolerance
        // keeps the interval.
        let passed = lastStart.map { Duration.nanoseconds(now &- $0) + .milliseconds(500) }
        guard !isWriting, passed ?? interval >= interval else { return false }
        isWriting = true
        lastStart = now
        return true
    }

    /// Records that the file was written.
    mutating func end() {
        isWriting = false
        lastFailure = nil
    }

    /// Records that the file was not written; returns whether the last attempt ended otherwise.
    mutating func end(failure: String) -> Bool {
        isWriting = false
        defer { lastFailure = failure }
        return lastFailure != failure
    }
}
