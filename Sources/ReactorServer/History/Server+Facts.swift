import ReactorBytes
import ReactorCore
import ReactorWire

// MARK: - What the journal is told besides deltas
extension Server {
    /// Writes a fact of the turn at hand down, where there is a journal that keeps it.
    func note(_ fact: @autoclosure () -> TurnFact) {
        guard keepsHistory else { return }
        if isReadOnly { return keep(fact()) }
        fact().encode(into: &desk.value.facts)
    }

    // because a snapshot without a session that the journal has would be another past
    /// Keeps what ended a session while nothing can be written; the journal knows of no more of them
    /// than there were before.
    private func keep(_ fact: TurnFact) {
        switch fact {
        case .goodbye, .evicted: unwritten.append(fact)
        default: break
        }
    }

    /// Writes down that a session has its first action, where it has.
    func noteActing(_ session: Session) {
        guard keepsHistory, !isReadOnly, !session.isStored else { return }
        session.isStored = true
        note(.session(client: session.client, secret: session.secret, uid: session.uid))
    }

    /// Writes a run of plain actions down; they stand in `frames`.
    func note(
        _ run: AppliedRun, _ nodes: [NodeAlias], _ frames: Span<UInt8>, _ session: Session,
        _ connection: Connection
    ) {
        guard run.count > 0 else { return }
        noteActing(session)
        var bytes: [UInt8] = []
        bytes.append(contentsOf: frames, 0..<frames.count)
        note(
            .run(
                by: ActionSource(connection.caller), ordinal: run.ordinal, sequence: run.sequence,
                count: run.count, nodes: nodes, frames: bytes))
    }

    /// Writes down that an action came, before what became of it.
    func note(
        _ header: FrameHeader, _ body: Span<UInt8>, _ nodes: [NodeAlias], _ result: DispatchResult,
        _ session: Session, _ connection: Connection
    ) {
        guard keepsHistory, !isReadOnly else { return }
        var writer = WireWriter()
        writer.header(header)
        writer.raw(body)
        noteArrival(of: header.number, nodes[...], writer.bytes, result, session, connection)
    }

    /// Writes down that an action came, in a frame of its own.
    func noteArrival(
        of ordinal: UInt64, _ nodes: ArraySlice<NodeAlias>, _ frame: Span<UInt8>,
        _ result: DispatchResult, _ session: Session, _ connection: Connection
    ) {
        var bytes: [UInt8] = []
        bytes.append(contentsOf: frame, 0..<frame.count)
        noteArrival(of: ordinal, nodes, bytes, result, session, connection)
    }

    private func noteArrival(
        of ordinal: UInt64, _ nodes: ArraySlice<NodeAlias>, _ frame: [UInt8],
        _ result: DispatchResult, _ session: Session, _ connection: Connection
    ) {
        noteActing(session)
        let source = ActionSource(connection.caller)
        // What changed nothing must not fill the disk.
        if case .failed = result, frame.count > limits.refusedBytesMax {
            note(
                .refused(
                    by: source, ordinal: ordinal, nodes: Array(nodes),
                    byteCount: UInt64(frame.count), checksum: WireChecksum(of: frame.span).value))
        } else {
            note(.action(by: source, ordinal: ordinal, nodes: Array(nodes), frame: frame))
        }
    }

    /// Writes down what became of an action.
    func note(_ outcome: Outcome, of ordinal: UInt64, _ session: Session) {
        guard session.isStored else { return }
        note(.outcome(client: session.client, ordinal: ordinal, is: outcome))
    }

    // because a client may have been told of actions behind them before it asks again
    /// Writes down what was refused, and which sessions ended, while nothing could be written.
    func noteWhatWasUnwritten() {
        for fact in unwritten { note(fact) }
        unwritten = []
        for session in sessions.all {
            for (ordinal, outcome) in session.allExceptions where outcome.isForLackOfSpace {
                noteActing(session)
                note(outcome, of: ordinal, session)
            }
        }
    }

    /// Writes down what the turn's transactions did besides their deltas.
    func noteChanges() {
        for fact in tree.turn.facts {
            switch fact {
            case .ownership(let fact): note(.ownership(fact))
            case .task(let fact): note(.task(fact))
            case .made(let places): note(.made(places))
            }
        }
    }

    /// Takes the facts of the turn.
    func takeFacts() -> [UInt8] {
        guard keepsHistory, desk.value.facts.count > 0 else { return [] }
        let bytes = desk.value.facts.bytes
        desk.value.facts.removeAll(keepingAtMost: Self.factBytesKeptMax)
        return bytes
    }

    /// Most bytes of room for facts that are kept for the next turn.
    private static let factBytesKeptMax = 1 << 20
}

extension Outcome {
    /// Whether it says that the disk was full.
    fileprivate var isForLackOfSpace: Bool {
        guard case .rejected(FaultCode.diskFull.rawValue, _) = self else { return false }
        return true
    }
}
