import ReactorCore
import ReactorWire

// MARK: - The end of effects
extension Server {
    /// Tells the client of an action, behind the outcome, when the effects that its transaction
    /// asked for have ended.
    ///
    /// *Cost*: paid by actions that ask for it alone.
    func promiseDone(of ordinal: UInt64, _ result: DispatchResult, _ session: Session) {
        session.awaited.begin(ordinal)
        guard let sequence = result.sequence, tree.runsEffects(of: sequence) else {
            return tellDone(of: ordinal, session)
        }
        tree.whenEffectsEnd(of: sequence) { [weak self, client = session.client] in
            // because the turn may have more to say of the action before: that an effect failed
            self?.endedActions.append(Origin(client: client, ordinal: ordinal))
        }
    }

    /// Promises the same to a client that has come back: its action was carried out before.
    func repeatDone(of ordinal: UInt64, _ session: Session, to connection: Connection) {
        let isRunning = session.awaited.askAgain(for: ordinal)
        // because an action whose answer is owed was sent twice on one connection, which is promised
        // the end already
        if isRunning || session.deferred.contains(ordinal) { return }
        if session.wasApplied(beforeStart: ordinal) {
            let text = "the daemon was started anew: effects that had not ended are gone"
            send(
                Notice(code: FaultCode.effectsLost.rawValue, message: text), of: ordinal,
                to: connection)
        }
        sendDone(ordinal, to: connection)
    }

    /// Appends to what a connection gets, behind the outcomes before it, news of an action.
    func send(_ notice: Notice, of ordinal: UInt64, to connection: Connection) {
        append(.notice, of: ordinal, to: connection) { notice.encode(into: &$0) }
    }

    /// Tells clients of the actions whose effects have ended in the turn at hand.
    func tellDone() {
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
            let connection = session.connection, !connection.isClosing
        else { return }
        sendDone(ordinal, to: connection)
    }

    /// Appends to what a connection gets, behind the outcomes before it, that an action's effects
    /// have ended.
    func sendDone(_ ordinal: UInt64, to connection: Connection) {
        append(.done, of: ordinal, to: connection) { _ in }
    }
}
