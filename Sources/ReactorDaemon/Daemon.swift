public import Logging
public import ReactorCore
import ReactorLoop
import ReactorServer

/// A running `reactord`: a tree served at a socket that is its own, until a signal ends it.
///
///     let daemon = try Daemon(root: App(), config: config)
///     try daemon.run()
///
/// *Owner*: the thread that made it, which ``run()`` then uses until the daemon has drained.
public final class Daemon {
    private let loop: EventLoop
    private let shell: ServerShell
    private var server: Server { shell.server }
    private let home: SocketHome
    private let logger: Logger
    private let supervisor: Supervisor?
    private var ticker: LoopTimer?
    /// When the server was told the time last, in nanoseconds.
    private var lastTick: UInt64 = 0
    private var signals: [SignalSource] = []
    /// Keeps signals from ending the process between the socket's first client and the loop's
    /// first turn.
    private let heldSignals: HeldSignals
    private var drainDeadline: LoopTimer?
    /// What of effects and sagas was told to end.
    private var rollCall: EffectRollCall?
    /// How often the listener had been parked when that was logged last, and when that was.
    private var toldParkings = 0
    private var lastParkingTold: UInt64?
    private var toldShortenings: UInt64 = 0
    /// What was logged last about the socket's file, and when.
    private var lastSocketTold: (text: String, time: UInt64)?
    private let whenOpen: (Tree) throws -> Void
    /// How many lines the log has dropped so far.
    private let droppedLogLines: @Sendable () -> UInt64
    /// Whether the loop has turned for the last time.
    private var isOver = false
    /// Whether somebody wants it to end at once.
    private var isHurried = false
    /// What ended the daemon, if no signal did.
    private var failure: DaemonError?
    private var lastShorteningTold: UInt64?

    /// The socket's path.
    public var socketPath: String { home.address.path }

    /// Opens the socket and mounts `root`; nothing is served before ``run()``. `name` is what
    /// clients are told that they talk to. `whenOpen` is called once the reactors have begun, and
    /// says who looks on and what comes in besides clients' actions: see `LiveReactor`. `roots`
    /// makes `root` once more, on any thread, for clients who ask how the past was; without it
    /// they are refused. `droppedLogLines` answers how many lines `logger` has dropped, for
    /// `reactorctl stats`.
    ///
    /// From here on SIGTERM, SIGINT and SIGHUP wait for ``run()``; one that comes while history is
    /// replayed ends that.
    ///
    /// *Throws*: ``DaemonError`` with what is in the way and the remedy, or
    /// ``DaemonError/interrupted(_:)``.
    public init(
        root: some Reactor, config: DaemonConfig, name: String = "reactord \(Daemon.version)",
        environment: [String: String], uid: UInt32, logger: Logger,
        roots: (@Sendable () throws -> any Reactor)? = nil,
        droppedLogLines: @escaping @Sendable () -> UInt64 = { 0 },
        whenOpen: @escaping (Tree) throws -> Void = { _ in }
    ) throws(DaemonError) {
        self.logger = logger
        self.droppedLogLines = droppedLogLines
        Signal.takeStray()
        let heldSignals = HeldSignals(Self.endingSignals)
        self.heldSignals = heldSignals
        supervisor = Supervisor(environment)
        self.whenOpen = whenOpen
        var limits = config.limits
        Self.fit(&limits, keepsHistory: config.data != nil, logger)
        do throws(LoopError) {
            loop = try EventLoop(spin: config.spin)
        } catch {
            throw .loop(error)
        }
        do throws(DaemonError) {
            home = try Self.open(config, environment, uid, on: loop)
        } catch {
            loop.close()
            throw error
        }
        var generator = SystemRandomNumberGenerator()
        let random = { generator.next() }
        do throws(DaemonError) {
            if let data = config.data {
                let history = try History(
                    data, environment: environment, uid: uid, logger,
                    interruption: { heldSignals.take() })
                shell = try ServerShell(
                    root, on: loop, history: history, limits: limits, name: name, ownerUID: uid,
                    roots: roots, random: random)
            } else {
                shell = ServerShell(
                    root, on: loop, epoch: random(), limits: limits, name: name, ownerUID: uid,
                    random: random)
            }
        } catch {
            home.close()
            loop.close()
            throw error
        }
        tell(shell.server.lastDeath)
        do {
            try whenOpen(shell.server.tree)
        } catch {
            throw .opening("\(error)")
        }
    }

    deinit {
        // because what journal and clients met last is told while the loop closes, when there is no
        // daemon any more that could hear it
        if shell.keeper?.reserve.isMissing ?? false {
            logger.warning(
                "no room for data.reserveBytes: on a full disk nothing can be made smaller")
        }
        shell.keeper?.onFull = { _ in }
        shell.keeper?.onBroken = { _ in }
        shell.onEvent = { _ in }
        shell.onTurnEnd = {}
        home.close()
        shell.close(isHurried: true)
        loop.close()
    }

    private func tell(_ death: ActionWatch.Death?) {
        guard let death else { return }
        logger.critical(
            "the daemon ended while it carried out an action: at the second time that is refused",
            metadata: ["ordinal": "\(death.ordinal)", "times": "\(death.count)"])
    }

    /// The daemon's version.
    public static let version = "0.1.0"
    /// How long a draining daemon waits for its clients to take their outcomes.
    static let drainDurationMax = Duration.seconds(3)
    /// How long it waits after that for effects that were cancelled; those which end neither by then
    /// are named in the log, and end with the process.
    static let dismissalDurationMax = Duration.seconds(1)
    /// Most effects that are named there; of the others only the number is told.
    static let abandonedNamesMax = 16
    /// Between two ticks there is a second; where there is more than this, in nanoseconds, the process
    /// was stopped.
    private static let tickDelayMax: UInt64 = 1_500_000_000
    /// Signals that end the daemon in an orderly way; SIGHUP not where it is ignored, as after
    /// `nohup`.
    private static var endingSignals: [Signal] {
        [.terminate, .interrupt] + (Signal.hangUp.isIgnored ? [] : [.hangUp])
    }
    // because files, signals and the loop itself need descriptors of their own
    private static let ownDescriptors = 64

    /// Makes room for the clients that are allowed, or allows no more than there is room for.
    private static func fit(
        _ limits: inout ServerLimits, keepsHistory: Bool, _ logger: Logger
    ) {
        // because those who are turned away have a socket until they are told
        let others =
            ownDescriptors + limits.handshakesMax
            + (keepsHistory ? HistoryDesk.descriptorsMax : 0)
        let descriptors = DescriptorLimit.raise(to: limits.connectionsMax + others)
        let room = max(descriptors - others, 16)
        guard room < limits.connectionsMax else { return }
        logger.warning(
            "connectionsMax lowered: the process may open too few files, raise RLIMIT_NOFILE",
            metadata: ["wanted": "\(limits.connectionsMax)", "is": "\(room)"])
        limits.connectionsMax = room
        limits.connectionsPerUIDMax = min(limits.connectionsPerUIDMax, room)
    }

    private static func open(
        _ config: DaemonConfig, _ environment: [String: String], _ uid: UInt32,
        on loop: EventLoop
    ) throws(DaemonError) -> SocketHome {
        let path: (path: String, makesDirectory: Bool)
        do throws(SocketPathError) {
            path = try SocketHome.choose(config.socket, environment: environment, uid: uid)
        } catch {
            throw .socketPath(error)
        }
        do throws(LoopError) {
            return try SocketHome(path.path, makesDirectory: path.makesDirectory, on: loop)
        } catch {
            throw .loop(error)
        }
    }

    /// Serves until a signal ends it; every client has been told and given its outcomes then.
    ///
    /// *Throws*: ``DaemonError`` where it ends by itself: everybody is cut. Where that was while it
    /// served, signals are still taken for as long as the daemon is held, so that none ends the
    /// process in another way before it has said why.
    public func run() throws(DaemonError) {
        do throws(LoopError) {
            try prepare()
        } catch {
            home.close()
            throw .loop(error)
        }
        supervisor?.tell("READY=1")
        logger.notice(
            "ready", metadata: ["socket": "\(home.address.path)", "pid": "\(Self.processID)"])
        loop.run()
        tellOfAbandoned()
        loop.onTurnEnd = nil
        if let failure {
            home.close()
            shell.cut()
            throw failure
        }
        isOver = true
        // because what is still to be done may take long: a further signal ends the process
        for signal in signals { signal.close() }
        shell.close(isHurried: isHurried)
        // because what the journal met at its end is told to the loop, which runs that now
        loop.close()
        if let failure { throw failure }
        logger.notice("stopped")
    }

    private func prepare() throws(LoopError) {
        shell.keeper?.logger = logger
        shell.keeper?.onFull = { [unowned self] in becomeReadOnly($0) }
        shell.keeper?.onBroken = { [unowned self] message in
            failure = .diskFailed(message)
            loop.stop()
        }
        shell.onEvent = { [unowned self] in log($0) }
        shell.onTurnEnd = { [unowned self] in
            if server.isDraining, shell.isAlone { finish() }
        }
        home.listener.onAccept = { [shell] in shell.accept($0) }
        for signal in Self.endingSignals {
            let source = try SignalSource(signal, on: loop)
            source.onSignal = { [unowned self] in terminate(signal) }
            signals.append(source)
        }
        heldSignals.release()
        lastTick = loop.now
        let ticker = try LoopTimer(on: loop)
        ticker.onFire = { [unowned self] in tick() }
        ticker.start(after: .seconds(1), every: .seconds(1))
        self.ticker = ticker
        home.listener.resumeAccepting()
        shell.begin()
    }

    private func tick() {
        server.noteLog(linesDropped: droppedLogLines())
        shell.tick(isLate: loop.now - lastTick > Self.tickDelayMax)
        lastTick = loop.now
        goOnIfThereIsRoom()
        warnOfParking()
        warnOfJobs()
        keepSocket()
    }
}

// MARK: - The socket's file
extension Daemon {
    /// Binds the socket again where its file has gone.
    private func keepSocket() {
        guard !server.isDraining else { return }
        do throws(LoopError) {
            guard try home.rebindIfLost() else { return }
            logSocket(.warning, "the socket's file was gone, bound it anew")
        } catch {
            logSocket(.error, "the socket's file is gone and cannot be bound anew: \(error)")
        }
    }

    /// Logs what happened to the socket's file; the same again only now and then.
    private func logSocket(_ level: Logger.Level, _ text: String) {
        if let told = lastSocketTold, told.text == text,
            loop.now - told.time < server.limits.logInterval
        {
            return
        }
        lastSocketTold = (text, loop.now)
        logger.log(
            level: level, "\(text)", metadata: ["socket": "\(home.address.path)"])
    }
}

// MARK: - A full disk
extension Daemon {
    /// Goes back to what was kept, and shows it.
    private func becomeReadOnly(_ message: String) {
        logger.critical(
            "the disk is full: read-only until there is room, what was not acknowledged is refused",
            metadata: ["reason": "\(message)"])
        // because nobody is there any more to whom anything is shown
        guard !isOver else { return }
        do throws(DaemonError) {
            try shell.rebuild()
        } catch {
            failure = error
            loop.stop()
        }
    }

    /// Changes things again as soon as they can be kept; until then, makes them smaller at request.
    private func goOnIfThereIsRoom() {
        guard !server.isDraining, let keeper = shell.keeper else { return }
        switch server.admission {
        case .all: keeper.reserve.tick()
        case .none where keeper.hasRoom:
            logger.notice("there is room on the disk: going on")
            goOn(.all)
        case .none where !keeper.isTrimming && keeper.reserve.release():
            logger.warning(
                "the disk is full: the reserve is released for actions that make states smaller")
            goOn(.shrinking)
        case .none: return
        case .shrinking:
            guard keeper.reserve.regain() else { return }
            logger.notice("there is room on the disk, and for the reserve: going on")
            shell.admitAll()
        }
    }

    private func goOn(_ admission: Admission) {
        shell.goOn(admission)
        do {
            try whenOpen(server.tree)
        } catch {
            failure = .opening("\(error)")
            loop.stop()
        }
    }
}

// MARK: - Descriptors
extension Daemon {
    /// Says that clients wait because the process may not open another file, now and then.
    private func warnOfParking() {
        let count = home.listener.parkCount
        // because a listener that was bound anew counts from zero
        toldParkings = min(toldParkings, count)
        guard count > toldParkings,
            lastParkingTold.map({ loop.now - $0 >= server.limits.logInterval }) ?? true
        else { return }
        logger.warning(
            "out of file descriptors, clients wait to be accepted: raise RLIMIT_NOFILE",
            metadata: ["times": "\(count - toldParkings)"])
        toldParkings = count
        lastParkingTold = loop.now
    }
}

// MARK: - Effects
extension Daemon {
    /// Says that effects and sagas ask for more than a turn does, now and then.
    private func warnOfJobs() {
        let count = shell.jobs.shortenedCount
        guard count > toldShortenings,
            lastShorteningTold.map({ loop.now - $0 >= server.limits.logInterval }) ?? true
        else { return }
        logger.warning(
            "effects and sagas ask for more than a turn does: look for a chain that feeds itself",
            metadata: [
                "perTurn": "\(TreeJobs.perTurnMax)", "turns": "\(count - toldShortenings)",
                "waiting": "\(shell.jobs.waitingCount)",
            ])
        toldShortenings = count
        lastShorteningTold = loop.now
    }
}

// MARK: - The log
extension Daemon {
    private func log(_ event: ServerEvent) {
        var metadata: Logger.Metadata = [:]
        let text: String
        let leftOut: UInt64
        switch event {
        case .closedForFault(let id, let peer, let code, let reason, let count):
            text = "closed a connection: \(reason)"
            metadata = [
                "code": "\(code)", "connection": "\(id.rawValue)", "uid": "\(peer.uid)",
                "pid": "\(peer.pid)",
            ]
            leftOut = count
        case .turnedAway(let peer, let reason, let count):
            text = "turned a client away: \(reason)"
            metadata = ["uid": "\(peer.uid)", "pid": "\(peer.pid)"]
            leftOut = count
        case .contradicted(let peer, let claim):
            return logger.critical(
                "the history has lost its tail, or an older copy stands in its place: a new epoch begins",
                metadata: [
                    "reason": "\(claim)", "uid": "\(peer.uid)", "pid": "\(peer.pid)",
                ])
        case .complaint(let complaint, let count):
            text = complaint
            leftOut = count
        }
        if leftOut > 0 { metadata["leftOut"] = "\(leftOut)" }
        // What a client said is a part of the text.
        logger.warning("\(text.terminalSafe)", metadata: metadata)
    }
}

// MARK: - The end
extension Daemon {
    /// Ends in an orderly way at the first signal, at once at the second.
    private func terminate(_ signal: Signal) {
        guard !server.isDraining else {
            logger.notice("second signal, stopping at once: the next start replays")
            isHurried = true
            loop.stop()
            return
        }
        supervisor?.tell("STOPPING=1")
        logger.notice("draining", metadata: ["signal": "\(signal.rawValue)"])
        if signal == .hangUp {
            logger.notice(
                "SIGHUP ends the daemon as SIGTERM does: it cannot read its configuration again")
        }
        home.close()
        server.drain()
        // because a stopped client must not keep the daemon from ending
        if let timer = try? LoopTimer(on: loop) {
            timer.onFire = { [unowned self] in
                if rollCall == nil { finish() } else { loop.stop() }
            }
            timer.start(after: Self.drainDurationMax)
            drainDeadline = timer
        }
    }

    /// The clients are gone, or had their time: stops as soon as the effects are, too.
    private func finish() {
        let rollCall = rollCall ?? dismissEffects()
        if rollCall.missing(in: server.tree).isEmpty { loop.stop() }
    }

    @discardableResult
    private func dismissEffects() -> EffectRollCall {
        let call = server.tree.dismissEffects()
        rollCall = call
        // because they have their time from when they were told, whoever else took some before
        drainDeadline?.start(after: Self.dismissalDurationMax)
        return call
    }

    /// Names the effects that end with the process, because they did not end by themselves.
    private func tellOfAbandoned() {
        let missing = (rollCall ?? dismissEffects()).missing(in: server.tree)
        guard !missing.isEmpty else { return }
        let names = missing.prefix(Self.abandonedNamesMax).map { effect in
            effect.cancelID.map { "\(effect.path) \($0)" } ?? "\(effect.path)"
        }
        logger.warning(
            "abandoned effects and sagas that do not end: have them end when they are cancelled",
            metadata: ["count": "\(missing.count)", "of": "\(names.joined(separator: ", "))"])
    }
}
