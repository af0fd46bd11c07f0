import ReactorCore
import ReactorWire

// MARK: - What became of actions
extension Server {
    /// Appends an outcome to what a connection gets, behind those before it.
    func send(_ outcome: Outcome, of ordinal: UInt64, to connection: Connection) {
        append(.outcome, of: ordinal, to: connection) { outcome.encode(into: &$0) }
    }

    /// Appends a frame about an action to what a connection gets, behind the outcomes before it.
    func append(
        _ kind: FrameKind, of ordinal: UInt64, to connection: Connection,
        _ write: (inout WireWriter) -> Void
    ) {
        flushRun(of: connection)
        let frame = outcomes.beginFrame(kind, number: ordinal)
        write(&outcomes)
        outcomes.endFrame(at: frame)
        connection.pending.outcomes.append(frame..<outcomes.count)
        count(outcomes.count - frame, of: connection)
    }

    /// Writes the run of plain outcomes that a connection has collected.
    func flushRun(of connection: Connection) {
        let run = connection.pending.run
        guard run.count > 0 else { return }
        let frame = outcomes.beginFrame(
            .applied, id: UInt32(clamping: run.count), number: run.ordinal)
        outcomes.unsigned(run.sequence)
        outcomes.endFrame(at: frame)
        connection.pending.outcomes.append(frame..<outcomes.count)
        connection.pending.run.count = 0
    }

    /// Answers an ordinal that was seen before with what became of it then.
    func repeatOutcome(
        _ header: FrameHeader, _ session: Session, to connection: Connection
    ) {
        let ordinal = header.number
        defer {
            if header.flags.contains(.awaited) { repeatDone(of: ordinal, session, to: connection) }
        }
        stats.repeats &+= 1
        countFrame(of: connection)
        if let outcome = session.outcome(of: ordinal) {
            send(outcome, of: ordinal, to: connection)
        } else if !session.deferred.contains(ordinal) {
            let text = "ordinal \(ordinal) is not new, and its outcome is no longer remembered"
            send(
                .rejected(code: FaultCode.ordinal.rawValue, message: text), of: ordinal,
                to: connection)
        }
    }

    /// Sends the answers that transactions gave to actions before them.
    func resolve() {
        for resolution in tree.turn.takeResolutions() {
            guard let session = sessions.find(client: resolution.ticket.client),
                session.deferred.contains(resolution.ticket.ordinal)
            else { continue }
            let ordinal = resolution.ticket.ordinal
            session.note(resolution.outcome, of: ordinal, limits)
            note(resolution.outcome, of: ordinal, session)
            if let connection = session.connection {
                send(resolution.outcome, of: ordinal, to: connection)
                if session.awaited.noteAnswer(of: ordinal) { sendDone(ordinal, to: connection) }
            }
        }
    }
}
