import Logging
import ReactorJournal
import ReactorLoop
import ReactorServer
import ReactorThreads
import ReactorWire

/// Reads the configuration again while the daemon runs, and has it applied as a whole or not at all.
///
/// A thread reads and checks the file, since a disk may not answer. At most one reading is in
/// progress; all requests that come during it get the next one.
///
/// *Place*: ``Daemon`` passes it SIGHUP, ``OperatorService`` the questions of clients. *Owner*: the
/// loop's thread; ``onApply`` is called between two turns.
final class ConfigReloader {
    /// Called with the configuration to apply.
    var onApply: (DaemonConfig) -> Void = { _ in }
    /// How the last reload ended.
    private(set) var status = ReloadStatus()
    private let source: ConfigSource?
    private let loop: EventLoop
    private let logger: Logger
    private let supervisor: Supervisor?
    /// The configuration in force. A key that needs a restart keeps its value.
    private var running: DaemonConfig
    private var queue = RequestQueue<ReloadRequest>()
    /// The path by which the thread reaches this object; nil once the daemon shuts down.
    private let target = Guarded<Confined<ConfigReloader>?>(nil)

    /// Makes a reloader for a daemon with the configuration `running`; without a source, it refuses
    /// every request.
    init(
        of running: DaemonConfig, from source: ConfigSource?, on loop: EventLoop,
        _ logger: Logger, _ supervisor: Supervisor?
    ) {
        self.running = running
        self.source = source
        self.loop = loop
        self.logger = logger
        self.supervisor = supervisor
        let handle = loop.handle
        target.withLock { $0 = Confined(self) { handle.isOnLoop } }
    }

    /// Reads the configuration for SIGHUP; the log has the result. Signals during a reading cause
    /// one further reading together.
    func hangUp() {
        guard !queue.isWaiting(where: { $0.caller == nil }) else { return }
        take(
            ReloadRequest(isDryRun: false, caller: nil) { [logger] result in
                guard case .failure(let refusal) = result else { return }
                logger.warning("SIGHUP: \(refusal.message)")
            })
    }

    /// Answers a request once the file was read.
    func take(_ request: ReloadRequest) {
        guard source != nil else {
            let text = "the daemon was started without a configuration file: there is none to read"
            return request.respond(.failure(Refusal(.notFound, text)))
        }
        guard target.withLock({ $0 }) != nil else {
            return request.respond(.failure(Self.draining))
        }
        queue.add(request)
        startReading()
    }

    /// Refuses all requests from here on: the daemon shuts down.
    func close() {
        target.withLock { $0 = nil }
        var requests = queue.isRunning ? queue.end() : []
        if queue.begin() { requests += queue.end() }
        for request in requests { request.respond(.failure(Self.draining)) }
    }

    private func startReading() {
        guard let source, queue.begin() else { return }
        if queue.isServing(where: { !$0.isDryRun }) {
            supervisor?.notify("RELOADING=1\nMONOTONIC_USEC=\(loop.now / 1_000)")
        }
        let (handle, target) = (loop.handle, target)
        let work = { @Sendable in
            let result: Result<ConfigReading, ConfigError>
            do throws(ConfigError) {
                let (config, digest) = try source.load()
                result = .success(ConfigReading(config: config, digest: digest))
            } catch {
                result = .failure(error)
            }
            _ = handle.post { target.withLock { $0 }?.open().conclude(result) }
        }
        // Without a thread, the loop's thread reads.
        if (try? WorkThread(name: "reload", takesSignals: false, work)) == nil { work() }
    }

    private func conclude(_ result: Result<ConfigReading, ConfigError>) {
        let requests = queue.end()
        let causes = requests.filter { !$0.isDryRun }
        let report: ReloadReport
        switch result {
        case .success(let reading):
            let change = ConfigChange(of: running, to: reading.config)
            report = ReloadReport(
                applied: change.applied, needsRestart: change.needsRestart, problems: [])
            if !causes.isEmpty { apply(change, reading.digest, causes) }
        case .failure(let error):
            report = ReloadReport(
                applied: [], needsRestart: [], problems: error.problems.map(\.description))
            if !causes.isEmpty { fail(report.problems, causes) }
        }
        for request in requests { request.respond(.success(report)) }
        startReading()
    }

    private func apply(
        _ change: ConfigChange, _ digest: WireChecksum, _ causes: [ReloadRequest]
    ) {
        // Logged before it is applied: the new level may hide it.
        var metadata = Self.metadata(of: causes)
        metadata["digest"] = "\(String(digest.value, radix: 16))"
        if !change.applied.isEmpty {
            metadata["applied"] = "\(change.applied.joined(separator: " "))"
        }
        if !change.needsRestart.isEmpty {
            metadata["needsRestart"] = "\(change.needsRestart.joined(separator: " "))"
        }
        logger.notice("applied the configuration", metadata: metadata)
        running = change.config
        status = ReloadStatus()
        source?.setLog(running.logLevel, running.logFormat)
        onApply(running)
        let rest =
            change.needsRestart.isEmpty ? "" : ", \(change.needsRestart.count) need a restart"
        supervisor?.notify("READY=1\nSTATUS=applied \(change.applied.count) new values\(rest)")
    }

    private func fail(_ problems: [String], _ causes: [ReloadRequest]) {
        status.isSuccess = false
        for problem in problems { logger.error("\(problem.terminalSafe)") }
        logger.error(
            "kept the former configuration: the file has problems",
            metadata: Self.metadata(of: causes))
        // A status is one line.
        let first = (problems.first ?? "").split(separator: "\n").first ?? ""
        supervisor?.notify("READY=1\nSTATUS=kept the former configuration: \(first)")
    }

    private static var draining: Refusal { Refusal(.draining, "the daemon is shutting down") }

    private static func metadata(of causes: [ReloadRequest]) -> Logger.Metadata {
        guard let caller = causes.lazy.compactMap(\.caller).first else {
            return ["by": "SIGHUP"]
        }
        return ["byUID": "\(caller.uid)", "byPID": "\(caller.pid)"]
    }
}

/// A request to read the configuration again.
struct ReloadRequest {
    /// Whether the configuration is only compared.
    let isDryRun: Bool
    /// The process that asked; nil for a signal.
    let caller: Peer?
    /// Takes the answer.
    let respond: (Result<ReloadReport, Refusal>) -> Void
}

/// A configuration that was read, with the checksum of its text.
private struct ConfigReading: Sendable {
    let config: DaemonConfig
    let digest: WireChecksum
}
