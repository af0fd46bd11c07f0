import ReactorBytes
import ReactorCore
import ReactorWire

/// Tells clients what became of their actions: the outcome, the answer that came later, the failure of
/// an effect, and the end of effects that a client waits for.
///
/// An outcome is recorded in the action's ``Session``, in the ``Chronicle``, and appended to what the
/// session's connection gets, in this order.
///
/// *Place*: the ``Dispatcher`` concludes actions with it; the end of a turn has it tell what else came
/// about in the turn.
final class OutcomeWriter {
    private let tree: Tree
    private let sessions: SessionTable
    private let chronicle: Chronicle
    private let delivery: Delivery
    private let orders: ShellOrders
    private let limits: ServerLimits
    /// Actions whose effects have ended in the current turn, and whose clients wait for that.
    private var endedActions: [Origin] = []

    init(
        _ tree: Tree, _ sessions: SessionTable, _ chronicle: Chronicle, _ delivery: Delivery,
        _ orders: ShellOrders, _ limits: ServerLimits
    ) {
        self.tree = tree
        self.sessions = sessions
        self.chronicle = chronicle
        self.delivery = delivery
        self.orders = orders
        self.limits = limits
    }

    /// Whether the end of a turn has more to tell, though nothing changed in the tree.
    var isDue: Bool { !endedActions.isEmpty }
}

// MARK: - Concluding actions
extension OutcomeWriter {
    /// Records that plain actions were applied one after the other.
    func conclude(_ run: AppliedRun, _ session: Session, _ connection: Connection) {
        session.noteApplied(run, limits)
        delivery.add(run, to: connection)
    }

    /// Concludes an action of the general way, and promises to tell of the end of its effects where
    /// the client asks for that.
    func conclude(
        _ result: DispatchResult, _ header: FrameHeader, _ session: Session,
        _ connection: Connection
    ) {
        conclude(result, of: header.number, session, connection)
        if header.flags.contains(.awaited) { promiseDone(of: header.number, result, session) }
    }

    /// Concludes an action that is not one of a run.
    func conclude(
        _ result: DispatchResult, of ordinal: UInt64, _ session: Session, _ connection: Connection
    ) {
        let outcome: Outcome
        switch result {
        case .applied(let sequence):
            chronicle.record(
                .applied(sequence: sequence, reply: nil, ownerEnded: false), of: ordinal, session)
            return conclude(
                AppliedRun(ordinal: ordinal, sequence: sequence, count: 1), session, connection)
        case .replied(let sequence, let reply):
            outcome = .applied(sequence: sequence, reply: reply, ownerEnded: false)
        case .accepted(let sequence): outcome = .accepted(sequence: sequence)
        case .deferred:
            session.deferred.insert(ordinal)
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
        session.note(outcome, of: ordinal, limits)
        chronicle.record(outcome, of: ordinal, session)
        send(outcome, of: ordinal, to: connection)
    }

    /// Answers an ordinal that was seen before with what became of it then.
    func repeatOutcome(_ header: FrameHeader, _ session: Session, to connection: Connection) {
        let ordinal = header.number
        orders.stats.repeats &+= 1
        if let outcome = session.outcome(of: ordinal) {
            send(outcome, of: ordinal, to: connection)
        } else if !session.deferred.contains(ordinal) {
            let text = "ordinal \(ordinal) is not new, and its outcome is no longer remembered"
            send(
                .rejected(code: FaultCode.ordinal.rawValue, message: text), of: ordinal,
                to: connection)
        }
        if header.flags.contains(.awaited) { repeatDone(of: ordinal, session, to: connection) }
    }

    private func send(_ outcome: Outcome, of ordinal: UInt64, to connection: Connection) {
        delivery.append(.outcome, of: ordinal, to: connection) { outcome.encode(into: &$0) }
    }

    private func send(_ notice: Notice, of ordinal: UInt64, to connection: Connection) {
        delivery.append(.notice, of: ordinal, to: connection) { notice.encode(into: &$0) }
    }

    private func sendDone(_ ordinal: UInt64, to connection: Connection) {
        delivery.append(.done, of: ordinal, to: connection) { _ in }
    }
}

// MARK: - News of earlier actions
extension OutcomeWriter {
    /// Sends the answers that transactions gave to actions before them.
    func resolve() {
        guard tree.turn.hasResolutions else { return }
        for resolution in tree.turn.takeResolutions() {
            guard let session = sessions.find(client: resolution.ticket.client),
                session.deferred.contains(resolution.ticket.ordinal)
            else { continue }
            let ordinal = resolution.ticket.ordinal
            session.note(resolution.outcome, of: ordinal, limits)
            chronicle.record(resolution.outcome, of: ordinal, session)
            if let connection = session.connection {
                send(resolution.outcome, of: ordinal, to: connection)
                if session.awaited.noteAnswer(of: ordinal) { sendDone(ordinal, to: connection) }
            }
        }
    }

    /// Tells clients what the turn has for actions before it: failures, answers, ended effects.
    func tellTurn() {
        if !tree.turn.isQuiet {
            tellFailures()
            resolve()
        }
        if !endedActions.isEmpty { tellDone() }
    }

    private func tellFailures() {
        for failure in tree.turn.failures {
            guard let session = sessions.find(client: failure.origin.client),
                let connection = session.connection
            else { continue }
            let notice = Notice(
                code: failure.code, message: failure.message.cut(to: limits.messageBytesMax))
            send(notice, of: failure.origin.ordinal, to: connection)
        }
    }
}

// MARK: - The end of effects
extension OutcomeWriter {
    /// Tells the client of an action, behind the outcome, when the effects that its transaction
    /// asked for have ended.
    ///
    /// *Cost*: paid by actions that ask for it alone.
    private func promiseDone(of ordinal: UInt64, _ result: DispatchResult, _ session: Session) {
        session.awaited.begin(ordinal)
        guard let sequence = result.sequence, tree.runsEffects(of: sequence) else {
            return tellDone(of: ordinal, session)
        }
        tree.whenEffectsEnd(of: sequence) { [weak self, client = session.client] in
            // The turn may have more to tell of the action before: that an effect failed.
            self?.endedActions.append(Origin(client: client, ordinal: ordinal))
        }
    }

    /// Promises the same to a client that has come back: its action was carried out before.
    private func repeatDone(of ordinal: UInt64, _ session: Session, to connection: Connection) {
        let isRunning = session.awaited.askAgain(for: ordinal)
        // The client of an action whose answer is owed was promised the end already, if it sent the
        // action twice on one connection.
        if isRunning || session.deferred.contains(ordinal) { return }
        if session.wasApplied(beforeStart: ordinal) {
            let text = "the daemon was restarted: effects that had not ended are gone"
            send(
                Notice(code: FaultCode.effectsLost.rawValue, message: text), of: ordinal,
                to: connection)
        }
        sendDone(ordinal, to: connection)
    }

    private func tellDone() {
        let ended = endedActions
        endedActions = []
        for action in ended {
            guard let session = sessions.find(client: action.client) else { continue }
            tellDone(of: action.ordinal, session)
        }
    }

    private func tellDone(of ordinal: UInt64, _ session: Session) {
        let isOwed = session.deferred.contains(ordinal)
        guard session.awaited.end(ordinal, isAnswerOwed: isOwed),
            let connection = session.connection, !connection.isLeaving
        else { return }
        sendDone(ordinal, to: connection)
    }
}
