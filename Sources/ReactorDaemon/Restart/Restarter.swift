import Glibc
import Logging
import ReactorJournal
import ReactorLoop
import ReactorServer
import ReactorWire

/// Hands the daemon over to a new process of its program, and takes over from a former one.
///
/// After a snapshot, it holds all input and waits until everything that was begun has its end. Then
/// it blocks the loop's thread until the new process serves, so that a failure needs no undoing: the
/// daemon goes on from where it was.
///
/// *Place*: ``OperatorService`` passes it the requests, ``Daemon`` starts serving through it.
/// *Owner*: the loop's thread.
final class Restarter {
    private let shell: ServerShell
    private let sockets: DaemonSockets
    private let metrics: MetricsEndpoint?
    private let logger: Logger
    private let supervisor: Supervisor?
    /// The process from which this one takes over.
    private let predecessor: Predecessor?
    /// The daemon's name in reports.
    private let name: String
    /// How to start the program again; nil if it cannot be.
    private var succession: Succession?
    private var stage = Stage.idle
    private var timer: LoopTimer?

    /// What a handover needs of the program.
    struct Succession {
        let program: SuccessorProgram
        /// Reports that the loop is not stuck.
        let beat: () -> Void
        /// Writes the rest of the log.
        let flush: () -> Void
    }

    private enum Stage {
        case idle
        /// A snapshot is being taken for the request, or the history is being shortened.
        case preparing(Inquiry, since: UInt64)
        /// Input is held until the server is settled.
        case holding(Inquiry, since: UInt64)
    }

    /// Maximum number of milliseconds for which a request may have clients wait; a longer time is
    /// cut.
    static let pauseMax: UInt64 = 600_000
    /// How long to wait for open questions before their connections are left out.
    private static let questionNanosecondsMax: UInt64 = 1_000_000_000
    /// How long a snapshot, and the removal of history behind it, may take.
    private static let prepareNanosecondsMax: UInt64 = 60_000_000_000
    /// Environment variables that are for this process alone.
    private static let ownVariables = [
        "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "WATCHDOG_PID",
    ]

    init(
        _ shell: ServerShell, _ sockets: DaemonSockets, metrics: MetricsEndpoint?, _ logger: Logger,
        _ supervisor: Supervisor?, after predecessor: Predecessor?, name: String
    ) {
        self.shell = shell
        self.sockets = sockets
        self.metrics = metrics
        self.logger = logger
        self.supervisor = supervisor
        self.predecessor = predecessor
        self.name = name
    }

    /// Accepts requests from here on.
    func accept(_ succession: Succession) { self.succession = succession }

    /// Whether input is held: no tick is passed to the server.
    var isHolding: Bool { if case .holding = stage { true } else { false } }

    private var loop: EventLoop { shell.loop }
}

// MARK: - Requests
extension Restarter {
    /// Begins a handover, or refuses it.
    func take(_ inquiry: Inquiry) {
        guard succession != nil else {
            let text = "this program cannot be started again by itself: restart its service"
            return refuse(inquiry, Refusal(.notFound, text))
        }
        guard shell.seat == nil else {
            let text =
                "a node of a cluster cannot keep its connections over a restart: hand over with "
                + "`reactorctl cluster step-down` if it leads, and restart its service"
            return refuse(inquiry, Refusal(.notFound, text))
        }
        guard let keeper = shell.keeper else {
            let text =
                "the daemon keeps its state in memory, which a new process would not have: configure "
                + "`data:`, or restart the service and lose the state"
            return refuse(inquiry, Refusal(.history, text))
        }
        guard case .idle = stage else {
            return answer(inquiry, problem: "another restart is in progress")
        }
        guard !shell.server.isDraining, shell.server.admission == .all else {
            return answer(
                inquiry,
                problem: "the daemon is shutting down, its disk is full, or it follows another one")
        }
        stage = .preparing(inquiry, since: loop.now)
        // Without it, the new process might have a long history to replay.
        keeper.snapshot { [weak self] result in
            if case .failure(let error) = result { self?.giveUp("no snapshot was taken: \(error)") }
        }
        watch()
    }

    /// Ends a handover in progress.
    func cancel(_ problem: String) { giveUp(problem) }

    private func watch() {
        guard let timer = try? LoopTimer(on: loop) else { return giveUp("no timer is available") }
        timer.onFire = { [unowned self] in proceed() }
        timer.start(after: .milliseconds(5), every: .milliseconds(5))
        self.timer = timer
    }

    private func proceed() {
        let now = loop.now
        switch stage {
        case .idle: return
        case .preparing(let inquiry, let since):
            if shell.keeper?.isIdle ?? false {
                stage = .holding(inquiry, since: now)
                hold(true)
            } else if now &- since >= Self.prepareNanosecondsMax {
                giveUp(
                    "the snapshot, or the removal of older history, takes too long: try again later"
                )
            }
        case .holding(let inquiry, let since):
            let mayWait = now &- since < Self.questionNanosecondsMax
            let isReady =
                shell.server.isSettled && shell.keeper?.isIdle ?? false
                && !(mayWait && hasOpenQuestions(besides: inquiry))
            if isReady {
                handOver(for: inquiry, until: since &+ Self.nanosecondsMax(of: inquiry))
            } else if now &- since >= Self.nanosecondsMax(of: inquiry) {
                giveUp(
                    "the daemon did not settle in time: try again later, or allow a longer pause")
            }
        }
    }

    /// Whether answers are due: to clients, or at the metrics' socket, whose connections end with
    /// this process.
    private func hasOpenQuestions(besides inquiry: Inquiry) -> Bool {
        metrics?.visitorCount ?? 0 > 0
            || shell.server.hasOpenQuestions(besides: inquiry.connection)
    }

    /// Maximum number of nanoseconds for which a request has clients wait.
    private static func nanosecondsMax(of inquiry: Inquiry) -> UInt64 {
        guard case .restart(let milliseconds) = inquiry.ask else { return 0 }
        return min(milliseconds, pauseMax) * 1_000_000
    }

    private func hold(_ isHeld: Bool) {
        sockets.hold(isHeld)
        if isHeld {
            metrics?.socket.listener.pauseAccepting()
        } else {
            metrics?.socket.listener.resumeAccepting()
        }
        shell.holdInput(isHeld)
    }

    /// Ends a handover without a successor: this process goes on serving.
    private func giveUp(_ problem: String) {
        let ended = stage
        stage = .idle
        timer?.close()
        timer = nil
        switch ended {
        case .idle: return
        case .preparing(let inquiry, _): answer(inquiry, problem: problem)
        case .holding(let inquiry, _):
            answer(inquiry, problem: problem)
            hold(false)
        }
        logger.error("no restart, this process goes on serving: \(problem.terminalSafe)")
    }

    private func answer(_ inquiry: Inquiry, problem: String) {
        let report = RestartReport(
            pid: getpid(), daemon: name, connections: 0, closed: 0, problem: problem)
        shell.server.answer(inquiry, with: .success(report.wireBytes()), at: loop.now)
        loop.turnAgain()
    }

    private func refuse(_ inquiry: Inquiry, _ refusal: Refusal) {
        shell.server.answer(inquiry, with: .failure(refusal), at: loop.now)
        loop.turnAgain()
    }
}

// MARK: - Handing over
extension Restarter {
    /// Starts the new process, and ends this one once that serves.
    private func handOver(for inquiry: Inquiry, until deadline: UInt64) {
        guard let succession, let keeper = shell.keeper else { return }
        let problem = keeper.journal.whileIdle {
            do throws(LoopError) {
                return try run(succession, keeper, inquiry, until: deadline)
            } catch {
                return "\(error)"
            }
        }
        giveUp(problem)
    }

    /// Runs the steps of the former process; returns why the new one does not serve.
    private func run(
        _ succession: Succession, _ keeper: HistoryKeeper, _ inquiry: Inquiry,
        until deadline: UInt64
    ) throws(LoopError) -> String {
        let document = HandoverDocument(
            pid: getpid(), row: keeper.journal.lastNumber, dataLock: keeper.lockDescriptor,
            sockets: sockets.handed + (metrics.map { [$0.socket.handed(as: .metrics)] } ?? []),
            links: shell.handedLinks, server: shell.handOver(asking: inquiry),
            slow: shell.meter.slowLog.entries(after: 0))
        let file = try MemoryFile(document.fileBytes)
        let (channel, process) = try start(succession, document, file)
        HandoverFault.reach(.spawned)
        if let problem = wait(for: .ready, from: process, channel, succession, until: deadline) {
            return problem
        }
        HandoverFault.reach(.ready)
        channel.send([Predecessor.Message.go.rawValue])
        HandoverFault.reach(.gone)
        if let problem = wait(for: .taken, from: process, channel, succession, until: deadline) {
            return problem
        }
        logger.notice("handed over to a new process", metadata: ["pid": "\(process.pid)"])
        supervisor?.notify("MAINPID=\(process.pid)")
        succession.flush()
        // Nothing is closed: everything belongs to the new process now.
        _exit(0)
    }

    private func start(
        _ succession: Succession, _ document: HandoverDocument, _ file: MemoryFile
    ) throws(LoopError) -> (HandoverChannel, SuccessorProcess) {
        let (own, other) = try HandoverChannel.pair()
        var environment = ProcessEnvironment.environment
        for name in Self.ownVariables { environment[name] = nil }
        environment[Predecessor.variable] = "\(file.descriptor):\(other.descriptor)"
        let inherited = document.descriptors + [file.descriptor, other.descriptor]
        // The descriptors are closed with these objects, at the earliest after the start.
        let process = try withExtendedLifetime((file, other)) { () throws(LoopError) in
            try succession.program.start(environment, inheriting: inherited)
        }
        return (own, process)
    }

    /// Waits for a message of the new process; returns nil once it came, else the problem. The new
    /// process has ended then.
    private func wait(
        for message: Predecessor.Message, from process: SuccessorProcess,
        _ channel: HandoverChannel, _ succession: Succession, until deadline: UInt64
    ) -> String? {
        while loop.now < deadline {
            succession.beat()
            switch channel.receive(within: 100) {
            case .nothing: continue
            case .ended: return "the new process \(process.end(within: 1_000))"
            case .message([message.rawValue]): return nil
            case .message(let bytes):
                let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
                return "the new process \(process.end(within: 1_000)): \(text)"
            }
        }
        let end = process.end(within: 0)
        while case .message(let bytes) = channel.receive(within: 0) {
            guard bytes == [Predecessor.Message.taken.rawValue] else { continue }
            // It has changed the history in the meantime, so that this process cannot go on.
            logger.critical("the new process served and \(end): start the daemon again")
            succession.flush()
            _exit(EX_TEMPFAIL)
        }
        return "the new process did not serve in time and \(end): allow a longer pause"
    }
}

// MARK: - Taking over
extension Restarter {
    /// Reports to the former process, if there is one, that this process cannot serve.
    func fail(_ error: DaemonError) { predecessor?.fail(error) }

    /// Begins to serve; first takes over the connections of a former process, if there is one.
    func begin() throws(LoopError) {
        guard let predecessor, let document = predecessor.document else { return shell.begin() }
        try sockets.applyPermissions()
        let taken = shell.takeOver(document.server, document.links)
        shell.meter.restoreSlow(document.slow)
        predecessor.confirm()
        sockets.claim()
        metrics?.socket.claim()
        shell.keeper?.claim()
        shell.begin()
        shell.readTaken()
        logger.notice(
            "took over from the former process",
            metadata: [
                "formerPID": "\(predecessor.pid)", "connections": "\(taken.count)",
                "closed": "\(taken.closedCount)",
            ])
        guard let asker = taken.asker else { return }
        let report = RestartReport(
            pid: getpid(), daemon: name, connections: UInt64(taken.count),
            closed: UInt64(taken.closedCount), problem: nil)
        shell.server.answer(asker.number, of: asker.connection, with: report, at: loop.now)
        loop.turnAgain()
    }
}
