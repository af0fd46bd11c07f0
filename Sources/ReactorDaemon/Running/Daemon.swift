import Glibc
public import Logging
import ReactorCluster
public import ReactorCore
import ReactorJournal
package import ReactorLoop
import ReactorServer

/// A running `reactord`: serves a tree at its own socket until a signal ends it.
///
///     let daemon = try Daemon(root: App(), config: config)
///     try daemon.run()
///
/// *Owner*: the thread that created it; ``run()`` occupies that thread until the daemon has
/// drained.
public final class Daemon {
    private let loop: EventLoop
    private let shell: ServerShell
    private var server: Server { shell.server }
    private let sockets: DaemonSockets
    private let logger: Logger
    private let supervisor: Supervisor?
    private var ticker: LoopTimer?
    private let watchdog: LoopWatchdog?
    /// The time passed to the server's last tick, in nanoseconds.
    private var lastTick: UInt64 = 0
    private let signals: DaemonSignals
    private var reloader: ConfigReloader
    private var warnings: DaemonWarnings
    private var ending = DaemonEnding()
    private let whenOpen: (Tree) throws -> Void
    private let operatorService: OperatorService
    private let restarter: Restarter

    /// The socket's path.
    public var socketPath: String { sockets.main.address.path }

    /// Opens the socket and mounts `root`; clients are served from ``run()`` on. `name` is the
    /// daemon's name in its answer to HELLO. `whenOpen` is called once the reactors have started,
    /// to add observers and inputs besides clients' actions: see `LiveReactor`. `roots` creates
    /// `root` a second time, on any thread, to answer queries about the past; without it these
    /// are refused. `droppedLogLines` returns the number of lines that `logger` has dropped, for
    /// `reactorctl stats`.
    ///
    /// From here on SIGTERM, SIGINT and SIGHUP wait for ``run()``; one of the first two during the
    /// replay of the history ends the replay.
    ///
    /// *Throws*: ``DaemonError`` with the obstacle and the remedy, or
    /// ``DaemonError/interrupted(_:)``.
    public convenience init(
        root: some Reactor, config: DaemonConfig, name: String = "reactord \(Daemon.version)",
        environment: [String: String], uid: UInt32, logger: Logger,
        roots: (@Sendable () throws -> any Reactor)? = nil,
        droppedLogLines: @escaping @Sendable () -> UInt64 = { 0 },
        whenOpen: @escaping (Tree) throws -> Void = { _ in }
    ) throws(DaemonError) {
        let predecessor = try Predecessor(environment)
        do throws(DaemonError) {
            try self.init(
                root, config, name, environment, uid, logger, roots, droppedLogLines, whenOpen,
                after: predecessor)
        } catch {
            predecessor?.fail(error)
            throw error
        }
    }

    private init(
        _ root: some Reactor, _ config: DaemonConfig, _ name: String,
        _ environment: [String: String], _ uid: UInt32, _ logger: Logger,
        _ roots: (@Sendable () throws -> any Reactor)?,
        _ droppedLogLines: @escaping @Sendable () -> UInt64,
        _ whenOpen: @escaping (Tree) throws -> Void, after predecessor: Predecessor?
    ) throws(DaemonError) {
        self.logger = logger
        let signals = DaemonSignals()
        self.signals = signals
        supervisor = Supervisor(environment)
        watchdog = LoopWatchdog(timeout: config.watchdog, supervisor)
        self.whenOpen = whenOpen
        if !config.allowsCoreDumps { ProcessDumps.refuse() }
        var limits = config.limits
        Self.fit(&limits, keepsHistory: config.data != nil, logger)
        warnings = DaemonWarnings(logger, interval: limits.logInterval)
        let metrics = try predecessor?.socket(.metrics, at: config.metrics.socket)
        do throws(LoopError) {
            loop = try EventLoop(spin: config.spin)
        } catch {
            throw .loop(error)
        }
        do throws(DaemonError) {
            sockets = try DaemonSockets(config, environment, uid, on: loop, after: predecessor)
        } catch {
            loop.close()
            throw error
        }
        do throws(LoopError) {
            operatorService = try OperatorService(
                config.metrics, logger, on: loop, succeedingTo: metrics,
                droppedLogLines: droppedLogLines)
        } catch {
            sockets.close()
            loop.close()
            throw .loop(error)
        }
        reloader = ConfigReloader(of: config, from: nil, on: loop, logger, supervisor)
        do throws(DaemonError) {
            shell = try Self.makeShell(
                root, on: loop, config, limits, name, environment, uid, logger, roots, signals,
                after: predecessor)
        } catch {
            operatorService.close()
            sockets.close()
            loop.close()
            throw error
        }
        restarter = Restarter(
            shell, sockets, metrics: operatorService.endpoint, logger, supervisor,
            after: predecessor, name: name)
        shell.begin(with: config, ownerUID: uid)
        log(shell.server.lastDeath)
        // In a cluster, the leader alone opens the tree.
        guard shell.seat == nil else { return }
        do {
            try whenOpen(shell.server.tree)
        } catch {
            throw .opening("\(error)")
        }
    }

    /// Restores the history, or joins the cluster, if the configuration has one.
    private static func makeShell(
        _ root: some Reactor, on loop: EventLoop, _ config: DaemonConfig, _ limits: ServerLimits,
        _ name: String, _ environment: [String: String], _ uid: UInt32, _ logger: Logger,
        _ roots: (@Sendable () throws -> any Reactor)?, _ signals: DaemonSignals,
        after predecessor: Predecessor?
    ) throws(DaemonError) -> ServerShell {
        let random = { UInt64.random(in: .min ... .max) }
        let cluster = try ClusterStart(config, on: loop)
        guard var data = config.data else {
            return ServerShell(
                root, on: loop, epoch: random(), limits: limits, name: name, ownerUID: uid,
                random: random)
        }
        // The log has each row on two machines before a client is told of it.
        if cluster != nil { data.durability = .relaxed }
        let history = try History(
            data, of: config.name, environment: environment, uid: uid, logger,
            as: cluster?.instance, after: predecessor, interruption: { signals.take() })
        return try ServerShell(
            root, on: loop, history: history, limits: limits, name: name, ownerUID: uid,
            roots: roots, cluster: cluster, random: random)
    }

    deinit {
        // While the loop closes, the journal and the connections still report; these closures
        // must not reach a released daemon.
        if shell.keeper?.lacksReserve ?? false {
            logger.warning(
                "no room for data.reserveBytes: a full disk will block actions that make states smaller"
            )
        }
        shell.keeper?.onFull = { _ in }
        shell.keeper?.onBroken = { _ in }
        shell.onEvent = { _ in }
        shell.onTurnEnd = nil
        operatorService.close()
        sockets.close()
        shell.close(skipsSnapshot: true)
        loop.close()
    }

    private func log(_ death: ActionWatch.Death?) {
        guard let death else { return }
        logger.critical(
            "the daemon ended while it ran an action: the action is refused after a second time",
            metadata: ["ordinal": "\(death.ordinal)", "times": "\(death.count)"])
    }

    /// The daemon's version.
    public static let version = "0.1.0"
    /// How long a draining daemon waits for its clients to read their outcomes.
    static let drainDurationMax = Duration.seconds(3)
    /// How long it then waits for cancelled effects. Effects that run longer are named in the
    /// log, and end with the process.
    static let dismissalDurationMax = Duration.seconds(1)
    /// Nanoseconds between two ticks above which the process is assumed to have been stopped.
    private static let tickDelayMax: UInt64 = 1_500_000_000
    /// Nanoseconds between two ticks.
    private static let tickInterval: UInt64 = 1_000_000_000
    // Descriptors for files, signals, the loop and administrators.
    private static let ownDescriptors = 80

    /// Chooses the memory limits that are automatic. Raises the descriptor limit for the allowed
    /// connections, or lowers `connectionsMax` to fit it.
    private static func fit(
        _ limits: inout ServerLimits, keepsHistory: Bool, _ logger: Logger
    ) {
        ProcessMemory.returnLargeBlocks()
        MemoryCeiling.chooseAutomatic(in: &limits)
        // Refused clients hold a socket until they have received the refusal.
        let others =
            ownDescriptors + limits.handshakesMax
            + (keepsHistory ? HistoryRouter.descriptorsMax : 0)
        let descriptors = DescriptorLimit.raise(to: limits.connectionsMax + others)
        let room = max(descriptors - others, 16)
        guard room < limits.connectionsMax else { return }
        logger.warning(
            "connectionsMax lowered: the process may open too few files, raise RLIMIT_NOFILE",
            metadata: ["wanted": "\(limits.connectionsMax)", "is": "\(room)"])
        limits.connectionsMax = room
        limits.connectionsPerUIDMax = min(limits.connectionsPerUIDMax, room)
    }

    /// Serves until a signal ends the daemon, after a drain in which clients receive their
    /// outcomes.
    ///
    /// *Throws*: ``DaemonError`` if the daemon ends by itself, for example because the disk
    /// failed; all connections are then closed at once. Signals are still caught until the daemon
    /// is released, so that a signal cannot end the process before the caller has reported the
    /// error.
    public func run() throws(DaemonError) {
        do throws(LoopError) {
            try prepare()
        } catch {
            sockets.close()
            restarter.fail(.loop(error))
            throw .loop(error)
        }
        if shell.keeper == nil {
            logger.notice(
                """
                all state is in memory and lost when the daemon ends: to keep it, add `data:` to the \
                configuration
                """
            )
        }
        supervisor?.notify("READY=1")
        logger.notice(
            "ready",
            metadata: sockets.metadata)
        loop.run()
        watchdog?.close()
        operatorService.close()
        logAbandonedEffects()
        loop.onTurnEnd = nil
        loop.onJobs = nil
        if let failure = ending.failure {
            sockets.close()
            shell.cut()
            throw failure
        }
        ending.close()
        // Closing may take long; a further signal now ends the process.
        signals.close()
        shell.close(skipsSnapshot: ending.skipsSnapshot)
        // The journal's last reports are posted to the loop, which runs them here.
        loop.close()
        if let failure = ending.failure { throw failure }
        logger.notice("stopped")
    }

    private func prepare() throws(LoopError) {
        shell.keeper?.onFull = { [unowned self] in becomeReadOnly($0) }
        shell.keeper?.onBroken = { [unowned self] in end(with: .diskFailed($0)) }
        let report = EventReport(logger: logger, supervisor: supervisor)
        shell.onEvent = { report.write($0) }
        shell.seat?.onNews = { [unowned self] in take($0, report) }
        try signals.listen(on: loop) { [unowned self] signal in
            if signal == .hangUp { reloader.hangUp() } else { terminate(signal) }
        }
        lastTick = loop.now
        let ticker = try LoopTimer(on: loop)
        ticker.onFire = { [unowned self] in tick() }
        ticker.start(after: .seconds(1), every: .seconds(1))
        self.ticker = ticker
        if let watchdog { shell.meter.report(to: watchdog.position) }
        let marks = shell.keeper?.marks
        try watchdog?.start(on: loop, supervisor, logger) { marks?.ordinal }
        operatorService.begin(shell, sockets, reloader, restarter)
        sockets.begin(shell)
        try restarter.begin()
    }

    private func tick() {
        guard !restarter.isHolding else {
            lastTick = loop.now
            return
        }
        let delay = loop.now - lastTick
        operatorService.tick(lag: delay > Self.tickInterval ? delay - Self.tickInterval : 0)
        shell.tick(isLate: delay > Self.tickDelayMax)
        lastTick = loop.now
        resumeIfThereIsRoom()
        warnings.parked(sockets.parkCount, at: loop.now)
        warnings.shortened(shell.jobs, at: loop.now)
        keepSocket()
    }

    /// Stops serving because of an error, which ``run()`` throws.
    private func end(with failure: DaemonError) {
        ending.fail(with: failure)
        loop.stop()
    }
}

// MARK: - The socket's file
extension Daemon {
    /// Binds the socket again if its file was removed.
    private func keepSocket() {
        guard !server.isDraining else { return }
        sockets.rebindLost { path, error in
            let cause = error.map { "cannot be bound again: \($0)" }
            warnings.socket(
                error == nil ? .warning : .error,
                "the socket's file was removed"
                    + (cause.map { " and \($0)" } ?? ", bound it again"),
                path: path, at: loop.now)
        }
    }
}

// MARK: - Changes by an operator
extension Daemon {
    /// Hands over to a new process of the program at the request of an operator; `flush` writes the
    /// rest of the log before this process ends. Without this call, the daemon refuses that.
    package func acceptRestarts(
        of program: SuccessorProgram, flush: @escaping () -> Void
    ) {
        restarter.accept(
            Restarter.Succession(
                program: program,
                beat: { [unowned self] in watchdog?.beat(supervisor) }, flush: flush))
    }

    /// Reads the configuration again from `source` at SIGHUP and at the request of an operator.
    /// Without this call, the daemon refuses that. Call it before ``run()``, with the configuration
    /// of the start.
    package func acceptReloads(of config: DaemonConfig, from source: ConfigSource) {
        reloader = ConfigReloader(of: config, from: source, on: loop, logger, supervisor)
        reloader.onApply = { [unowned self] in apply($0) }
    }

    private func apply(_ config: DaemonConfig) {
        var config = config
        Self.fit(&config.limits, keepsHistory: config.data != nil, logger)
        shell.apply(config)
        if let access = config.access { shell.apply(access, ownerUID: geteuid()) }
        warnings.interval = config.limits.logInterval
        operatorService.setFile(config.metrics)
    }
}

// MARK: - A full disk
extension Daemon {
    /// Returns to the last durable state and serves it read-only. A node of a cluster goes on.
    private func becomeReadOnly(_ message: String) {
        if let seat = shell.seat { return seat.stall(message) }
        logger.critical(
            "the disk is full: read-only until there is room, actions without an outcome are refused",
            metadata: ["reason": "\(message)"])
        // After the last turn no clients are left.
        guard !ending.isClosing else { return }
        do throws(DaemonError) {
            try shell.rebuild()
        } catch {
            end(with: error)
        }
    }

    /// Accepts actions again once the disk has room. Until then, releases the reserve and accepts
    /// actions that make states smaller.
    private func resumeIfThereIsRoom() {
        guard !server.isDraining else { return }
        shell.keeper?.measureDisk()
        // Before and after, since only here an admission ends.
        notifyOfAdmission()
        guard let keeper = shell.keeper else { return }
        defer { notifyOfAdmission() }
        switch server.admission {
        case .all: keeper.tickReserve()
        case .full where keeper.hasRoom:
            logger.notice("the disk has room again: accepting all actions")
            goOn(.all)
        case .full where !keeper.isTrimming && keeper.releaseReserve():
            logger.warning(
                "the disk is full: released the reserve for actions that make states smaller")
            goOn(.shrinking)
        case .full, .following, .cut: return
        case .limited:
            guard keeper.diskLevel != .full else { return }
            logger.notice("the data directory has room again: accepting all actions")
            shell.admitAll()
        case .shrinking:
            guard keeper.regainReserve() else { return }
            logger.notice("the disk has room again, also for the reserve: accepting all actions")
            shell.admitAll()
        }
    }

    private func notifyOfAdmission() {
        guard let status = warnings.status(of: server.admission, isStateFull: server.isStateFull)
        else { return }
        supervisor?.notify(status)
    }

    private func goOn(_ admission: Admission) {
        shell.goOn(admission)
        openTree()
    }

    /// Lets the author's code begin, once the reactors have started.
    private func openTree() {
        do { try whenOpen(server.tree) } catch { end(with: .opening("\(error)")) }
    }
}

// MARK: - A cluster
extension Daemon {
    private func take(_ news: ClusterNews, _ report: EventReport) {
        report.write(news) { shell.seat?.config.name(of: $0) }
        switch news {
        case .leads: openTree()
        case .ceased: if ending.isLeaving { loop.stop() }
        case .stop(let error): end(with: error)
        case .leader, .cut, .outage, .disconnected, .disk: break
        }
    }
}

// MARK: - Shutdown
extension Daemon {
    /// Drains at the first signal, stops at once at the second.
    private func terminate(_ signal: Signal) {
        guard !server.isDraining else {
            logger.notice("second signal, stopping at once: the next start replays")
            ending.hurry()
            loop.stop()
            return
        }
        supervisor?.notify("STOPPING=1")
        logger.notice("draining", metadata: ["signal": "\(signal.rawValue)"])
        restarter.cancel("the daemon is shutting down")
        reloader.close()
        sockets.close()
        server.drain()
        shell.onTurnEnd = { [unowned self] in
            if shell.isAlone { finish() }
        }
        // A deadline: a client that does not read must not keep the daemon running.
        if let timer = try? LoopTimer(on: loop) {
            timer.onFire = { [unowned self] in
                if ending.dismissed == nil {
                    finish()
                } else {
                    ending.isLeaving ? loop.stop() : leaveCluster()
                }
            }
            timer.start(after: Self.drainDurationMax)
            ending.deadline = timer
        }
    }

    /// Called when the clients have gone or the deadline passed; stops once the effects have
    /// ended too.
    private func finish() {
        let dismissed = ending.dismissed ?? dismissEffects()
        if dismissed.missing(in: server.tree).isEmpty { leaveCluster() }
    }

    /// Hands over the leadership of the cluster, if this node has it, and stops.
    private func leaveCluster() {
        guard !ending.isLeaving else { return }
        guard shell.seat?.leave() ?? false else { return loop.stop() }
        ending.leave()
        ending.deadline?.start(after: Self.dismissalDurationMax)
    }

    @discardableResult
    private func dismissEffects() -> DismissedEffects {
        let call = server.tree.dismissEffects()
        ending.dismissed = call
        // The effects get their full time from their cancellation on, however long the clients
        // took.
        ending.deadline?.start(after: Self.dismissalDurationMax)
        return call
    }

    private func logAbandonedEffects() {
        let missing = (ending.dismissed ?? dismissEffects()).missing(in: server.tree)
        EventReport(logger: logger, supervisor: supervisor).write(abandoned: missing)
    }
}
