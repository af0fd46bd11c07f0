import ReactorBytes
import ReactorCore
import ReactorWire

/// Sends clients the outcomes of their actions, deferred answers, failures of effects, and reports
/// that awaited effects have ended.
///
/// Each outcome is remembered in the action's ``Session`` and recorded in the ``Chronicle``, and
/// then appended to the output of the session's connection.
///
/// *Place*: the ``Dispatcher`` concludes actions with it; at the end of a turn the server calls
/// ``sendTurn()`` for the rest. ``invariants()`` states the invariants.
final class OutcomeWriter {
    private let tree: Tree
    private let turn: Turn
    private let sessions: SessionTable
    private let connections: ConnectionTable
    private let chronicle: Chronicle
    private let delivery: Delivery
    private let orders: ShellOrders
    private var limits: ServerLimits
    /// Actions whose effects have ended since the last turn ended, and whose clients wait for that.
    private let endedActions = Cell<[Origin]>([])
    /// Those of them whose effects were cancelled before they had ended.
    private var lostActions: Set<Origin> = []
    /// The name of the daemon that carries out actions, while this one follows it; nil if unknown.
    private var leader: String?
    /// Whether other daemons follow this one: their clients learn from the rows what clients here
    /// are sent.
    private(set) var isFollowed = false

    init(
        _ tree: Tree, _ sessions: SessionTable, _ connections: ConnectionTable,
        _ chronicle: Chronicle, _ delivery: Delivery, _ orders: ShellOrders,
        _ limits: ServerLimits
    ) {
        self.tree = tree
        turn = tree.turn
        self.sessions = sessions
        self.connections = connections
        self.chronicle = chronicle
        self.delivery = delivery
        self.orders = orders
        self.limits = limits
    }

    /// Applies other limits from here on.
    func setLimits(_ limits: ServerLimits) { self.limits = limits }

    /// Sets the daemon to which clients are referred with new actions.
    func setLeader(_ leader: String?) { self.leader = leader }

    /// Has other daemons follow this one, which begins to lead.
    func beginLeading() { isFollowed = true }

    /// Whether the end of a turn has something to send for earlier actions.
    var isDue: Bool { !turn.isQuiet || !endedActions.value.isEmpty }

    /// The connection of a session; nil while its client is away.
    private func connection(of session: Session) -> Connection? {
        session.connection.flatMap { connections[$0] }
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        let ended = endedActions.value
        assert(
            ended.count > 32 || Set(ended).count == ended.count,
            "the effects of an action have ended twice")
    }
}

// MARK: - Concluding actions
extension OutcomeWriter {
    /// Concludes an action that was dispatched alone. If its client waits for the end of its
    /// effects, the report of the end follows.
    func conclude(
        _ result: DispatchResult, _ header: FrameHeader, _ session: Session,
        _ connection: Connection
    ) {
        conclude(result, of: header.number, session, connection)
        if header.flags.contains(.awaited) { promiseDone(of: header.number, result, session) }
    }

    /// Concludes an action that is not part of a run.
    func conclude(
        _ result: DispatchResult, of ordinal: UInt64, _ session: Session, _ connection: Connection
    ) {
        let outcome: Outcome
        switch result {
        case .applied(let sequence):
            chronicle.record(
                .applied(sequence: sequence, reply: nil, ownerEnded: false), of: ordinal, session)
            let run = AppliedRun(ordinal: ordinal, sequence: sequence, count: 1)
            session.remember(run, limits.outcomes)
            return delivery.add(run, to: connection)
        case .replied(let sequence, let reply):
            outcome = .applied(sequence: sequence, reply: reply, ownerEnded: false)
        case .accepted(let sequence): outcome = .accepted(sequence: sequence)
        case .deferred:
            session.deferAnswer(of: ordinal)
            return
        case .failed(.decode(let error)):
            orders.stats.rejections &+= 1
            outcome = .rejected(
                code: FaultCode.decode.rawValue,
                message: "\(error)".cut(to: limits.messageBytesMax))
        case .failed(.rejected(let rejection)):
            orders.stats.rejections &+= 1
            outcome = .rejected(
                code: rejection.code.cut(to: limits.messageBytesMax),
                message: rejection.message.cut(to: limits.messageBytesMax))
        }
        session.remember(outcome, of: ordinal, limits.outcomes)
        chronicle.record(outcome, of: ordinal, session)
        sendDecided(outcome, of: ordinal, to: connection)
    }

    /// Sends an outcome of this daemon, also if no row has it.
    private func sendDecided(_ outcome: Outcome, of ordinal: UInt64, to connection: Connection) {
        send(outcome, of: ordinal, to: connection)
        guard connection.isRemote, outcome.isForLackOfSpace else { return }
        orders.append(
            .reply(
                connection.id.node,
                .refused(connection: connection.id.rawValue, ordinal: ordinal, is: outcome)))
    }

    /// Sends the outcome of an ordinal that arrived before; refuses a new one, which another daemon
    /// carries out.
    func repeatOutcome(_ header: FrameHeader, _ session: Session, to connection: Connection) {
        let ordinal = header.number
        if ordinal > session.ordinal {
            session.refer(ordinal)
            return refer(header, to: connection)
        }
        orders.stats.repeats &+= 1
        if let outcome = session.outcome(of: ordinal) {
            sendDecided(outcome, of: ordinal, to: connection)
        } else if session.wasReferred(ordinal) {
            return refer(header, to: connection)
        } else if !session.isDeferred(ordinal) {
            let text = "ordinal \(ordinal) is not new, and its outcome is no longer remembered"
            send(
                .rejected(code: FaultCode.ordinal.rawValue, message: text), of: ordinal,
                to: connection)
        }
        if header.flags.contains(.awaited) { repeatDone(of: ordinal, session, to: connection) }
    }

    // The session does not change: its ordinals are those that the leading daemon has.
    private func refer(_ header: FrameHeader, to connection: Connection) {
        orders.stats.rejections &+= 1
        let text =
            chronicle.isFollowing
            ? leader.map { "this daemon follows \($0): send the action there" }
                ?? "this daemon follows another one, and does not know which one leads: try again"
            : "this daemon followed another one when the action arrived: try again"
        send(
            .rejected(
                code: FaultCode.elsewhere.rawValue,
                message: text.cut(to: limits.messageBytesMax)),
            of: header.number, to: connection)
        if header.flags.contains(.awaited) { sendDone(header.number, to: connection) }
    }

    /// Sends an outcome that another daemon decided, if the session has a connection here.
    func pass(_ outcome: Outcome, of ordinal: UInt64, _ session: Session) {
        guard let connection = connection(of: session) else { return }
        if case .applied(let sequence, nil, false) = outcome {
            delivery.add(
                AppliedRun(ordinal: ordinal, sequence: sequence, count: 1), to: connection)
        } else {
            send(outcome, of: ordinal, to: connection)
        }
        if session.takeEarlyEnd(of: ordinal) { sendDone(ordinal, to: connection) }
    }

    /// Sends a notice about an action that another daemon carried out, if the session has a
    /// connection here.
    func pass(_ notice: Notice, of ordinal: UInt64, _ session: Session) {
        if let connection = connection(of: session) { send(notice, of: ordinal, to: connection) }
    }

    /// Reports the end of effects that another daemon ran, if the session has a connection here.
    func passEnd(of ordinal: UInt64, _ session: Session) {
        // An action whose frame no row has is not known to be awaited.
        if session.awaitsEffects(of: ordinal) { return sendEnd(of: ordinal, session) }
        if let connection = connection(of: session) { sendDone(ordinal, to: connection) }
    }

    /// Sends the outcomes of a run that another daemon carried out, if the session has a connection
    /// here.
    func pass(_ run: AppliedRun, _ session: Session) {
        if let connection = connection(of: session) { delivery.add(run, to: connection) }
    }

    private func send(_ outcome: Outcome, of ordinal: UInt64, to connection: Connection) {
        delivery.send(.outcome, of: ordinal, to: connection) { outcome.encode(into: &$0) }
    }

    private func send(_ notice: Notice, of ordinal: UInt64, to connection: Connection) {
        delivery.send(.notice, of: ordinal, to: connection) { notice.encode(into: &$0) }
    }

    private func sendDone(_ ordinal: UInt64, to connection: Connection) {
        delivery.send(.done, of: ordinal, to: connection) { _ in }
    }
}

// MARK: - News of earlier actions
extension OutcomeWriter {
    /// Sends the answers that transactions of the turn gave to deferred actions.
    func resolve() {
        guard turn.hasResolutions else { return }
        for resolution in turn.takeResolutions() {
            guard let session = sessions.find(client: resolution.ticket.client),
                session.isDeferred(resolution.ticket.ordinal)
            else { continue }
            let ordinal = resolution.ticket.ordinal
            session.remember(resolution.outcome, of: ordinal, limits.outcomes)
            chronicle.record(resolution.outcome, of: ordinal, session)
            if let connection = connection(of: session) {
                send(resolution.outcome, of: ordinal, to: connection)
                if session.takeEarlyEnd(of: ordinal) { sendDone(ordinal, to: connection) }
            }
        }
    }

    /// Sends what the turn has for earlier actions: failures, answers, ended effects. Logs the
    /// failures that no client waits for.
    func sendTurn() {
        if !turn.isQuiet {
            for text in turn.complaints { orders.complain(text) }
            sendFailures()
            resolve()
        }
        if !endedActions.value.isEmpty { sendEnds() }
    }

    private func sendFailures() {
        for failure in turn.failures {
            guard let session = sessions.find(client: failure.origin.client) else { continue }
            let notice = Notice(
                code: failure.code, message: failure.message.cut(to: limits.messageBytesMax))
            report(notice, of: failure.origin.ordinal, session)
        }
    }

    private func report(_ notice: Notice, of ordinal: UInt64, _ session: Session) {
        if isFollowed {
            chronicle.record(
                .notice(
                    client: session.client, ordinal: ordinal, code: notice.code,
                    message: notice.message))
        }
        pass(notice, of: ordinal, session)
    }
}

// MARK: - The end of effects
extension OutcomeWriter {
    /// Arranges that the client learns when the effects of its action have ended, after the
    /// outcome.
    ///
    /// *Cost*: none for actions that do not ask for it.
    private func promiseDone(of ordinal: UInt64, _ result: DispatchResult, _ session: Session) {
        session.awaitEffects(of: ordinal)
        guard let sequence = result.sequence, tree.runsEffects(of: sequence) else {
            return sendEnd(of: ordinal, session)
        }
        tree.whenEffectsEnd(of: sequence) { [weak self, client = session.client] in
            // The turn may also have a failure of the action's effect, which is sent first.
            self?.endedActions.value.append(Origin(client: client, ordinal: ordinal))
            self?.invariants()
        }
    }

    /// Does the same for a client that reconnected, and whose action ran before.
    private func repeatDone(of ordinal: UInt64, _ session: Session, to connection: Connection) {
        let isRunning = session.awaitEffectsAgain(of: ordinal)
        // If the same connection sent the action twice and its answer is still deferred, the end of
        // the effects follows that answer.
        if isRunning || session.isDeferred(ordinal) { return }
        if session.wasApplied(beforeStart: ordinal) {
            send(Self.loss, of: ordinal, to: connection)
        }
        sendDone(ordinal, to: connection)
    }

    private static let loss = Notice(
        code: FaultCode.effectsLost.rawValue,
        message: "the daemon was restarted: effects that had not ended are gone")

    private static let cancelled = Notice(
        code: FaultCode.effectsLost.rawValue,
        message: "another daemon might have begun to lead: effects that had not ended are gone")

    /// Cancels all effects, since another daemon may lead by now. Their clients are sent, with this
    /// turn, that the effects are lost; clients that come back later are sent the same.
    func loseEffects() {
        let endedCount = endedActions.value.count
        _ = tree.dismissEffects()
        for action in endedActions.value.dropFirst(endedCount) {
            lostActions.insert(action)
            sessions.find(client: action.client)?.markStart()
        }
    }

    /// Reports the end of effects that a former process ran and the client waits for; after a
    /// deferred answer, if there is one.
    func endFormerEffects(of ordinal: UInt64, _ session: Session, to connection: Connection) {
        session.awaitEffects(of: ordinal)
        guard session.endEffects(of: ordinal) else { return }
        send(Self.loss, of: ordinal, to: connection)
        sendDone(ordinal, to: connection)
    }

    /// Reports the end of all effects that the former leading daemon ran, to the clients here that
    /// wait for it. Those that come back later learn it then.
    func endFormerEffects() {
        for session in sessions.all {
            for ordinal in session.loseEffects() {
                guard let connection = connection(of: session) else { continue }
                endFormerEffects(of: ordinal, session, to: connection)
            }
        }
    }

    private func sendEnds() {
        let (ended, lost) = (endedActions.value, lostActions)
        (endedActions.value, lostActions) = ([], [])
        for action in ended {
            guard let session = sessions.find(client: action.client) else { continue }
            if lost.contains(action) { report(Self.cancelled, of: action.ordinal, session) }
            sendEnd(of: action.ordinal, session)
        }
    }

    private func sendEnd(of ordinal: UInt64, _ session: Session) {
        if isFollowed, session.awaitsEffects(of: ordinal) {
            chronicle.record(.done(client: session.client, ordinal: ordinal))
        }
        guard session.endEffects(of: ordinal),
            let connection = connection(of: session), !connection.isLeaving
        else { return }
        sendDone(ordinal, to: connection)
    }
}
