import ReactorBytes
package import ReactorCore
import ReactorWire

/// Applies the rows of a leading daemon, each as a turn of this one.
///
///     try rows.apply(row)         // the turn now has what it has in the leading daemon
///
/// The tree and the sessions change as in a ``Recovery``. In addition, clients of this daemon get
/// what the row has for them: the turn's deltas go to the followers of slices, and outcomes of
/// actions, behind the turn's mark, to the connection of their session.
///
/// *Place*: ``Server/follow(_:at:)``. It holds the recovery, from which a promoted server goes on.
final class RowApplier {
    /// The recovery that the rows continue.
    let recovery: Recovery
    /// The number of this daemon in its cluster.
    let node: UInt8
    private let tree: Tree
    private let sessions: SessionTable
    private let connections: ConnectionTable
    private let outcomes: OutcomeWriter
    private let openNodes: OpenNodes
    private let subscriptions: Subscriptions
    private let intake: Intake
    private let delivery: Delivery
    private let forwarder: Forwarder
    /// Whether a row was applied in part, so that the tree is of no revision.
    private var hasFailed = false
    /// Actions of the current row that their clients have not sent again on their present connections.
    private var unsent: [(client: UInt64, ordinal: UInt64)] = []
    /// The turn of the last row; 0 before the first.
    private(set) var lastTurn: UInt64 = 0

    /// Continues `recovery`, which is finished; clients may follow its tree.
    init(
        _ recovery: Recovery, as node: UInt8, _ connections: ConnectionTable,
        _ outcomes: OutcomeWriter, _ openNodes: OpenNodes, _ subscriptions: Subscriptions,
        _ intake: Intake, _ delivery: Delivery, _ forwarder: Forwarder
    ) {
        self.recovery = recovery
        self.node = node
        self.connections = connections
        self.outcomes = outcomes
        self.openNodes = openNodes
        self.subscriptions = subscriptions
        self.intake = intake
        self.delivery = delivery
        self.forwarder = forwarder
        (tree, sessions) = (recovery.tree, recovery.sessions)
        recovery.nodes.goLive { [unowned self] in cutConnections() }
    }

    /// Applies a row to the current turn.
    ///
    /// *Throws*: ``FollowError``. After another error than ``FollowError/misplaced(_:_:)`` and
    /// ``FollowError/otherEpoch(_:)``, the server must not be used any more.
    func apply(_ row: Batch) throws(FollowError) {
        precondition(!hasFailed, "a row is applied although an earlier one has failed")
        guard row.epoch == tree.turn.epoch else { throw .otherEpoch(row.epoch) }
        guard row.after == tree.turn.sequence, row.sequence >= row.after else {
            throw .misplaced(after: row.after, expected: tree.turn.sequence)
        }
        let facts: [TurnFact]
        do throws(RecoveryError) {
            facts = try recovery.redo(row)
        } catch {
            hasFailed = true
            throw .unapplied(error)
        }
        unsent = []
        for fact in facts {
            apply(fact, of: row.sequence)
            settle(fact)
        }
        lastTurn = delivery.turn
    }

    private func apply(_ fact: TurnFact, of sequence: UInt64) {
        switch fact {
        case .run(let by, let ordinal, let first, let count, _, _):
            let session = sessions.find(client: by.client)
            let isNew = session.map { ordinal > $0.ordinal } ?? false
            recovery.replay(fact, upTo: sequence)
            guard isNew, let session else { return }
            let run = AppliedRun(ordinal: ordinal, sequence: first, count: count)
            guard session.hear(ConnectionID(by.connection), upTo: run.last, at: node) else {
                return outcomes.pass(run, session)
            }
            // Others get their answer when the client sends them again, behind its subscriptions.
            for ordinal in ordinal...run.last where forwarder.hasTaken(ordinal, of: session) {
                if let outcome = session.outcome(of: ordinal) {
                    outcomes.pass(outcome, of: ordinal, session)
                }
            }
        case .action(let by, let ordinal, _, let frame):
            let session = sessions.find(client: by.client)
            let isNew = session.map { ordinal > $0.ordinal } ?? false
            recovery.replay(fact, upTo: sequence)
            _ = session?.hear(ConnectionID(by.connection), upTo: ordinal, at: node)
            if isNew, let session, !forwarder.hasTaken(ordinal, of: session) {
                unsent.append((by.client, ordinal))
            }
            if isNew, let session, Self.isAwaited(frame) {
                session.awaitEffects(of: ordinal, isAsked: session.connection != nil)
            }
        case .notice(let client, let ordinal, let code, let message):
            guard let session = sessions.find(client: client) else { return }
            // A client that comes back later learns the loss as well.
            if code == FaultCode.effectsLost.rawValue { session.markStart() }
            outcomes.pass(Notice(code: code, message: message), of: ordinal, session)
        case .done(let client, let ordinal):
            guard let session = sessions.find(client: client) else { return }
            outcomes.passEnd(of: ordinal, session)
        case .term(_, let term):
            forwarder.hear(of: term)
            outcomes.endFormerEffects()
        case .stepDown: forwarder.excuse()
        case .outcome(let client, let ordinal, let outcome):
            let session = sessions.find(client: client)
            let isDeferred = session?.isDeferred(ordinal) ?? false
            let isNew = isDeferred || session.map { ordinal > $0.ordinal } ?? false
            recovery.replay(fact, upTo: sequence)
            let isUnsent = unsent.contains { $0 == (client, ordinal) }
            guard isNew, let session, !isUnsent,
                isDeferred || forwarder.hasTaken(ordinal, of: session)
            else { return }
            outcomes.pass(session.outcome(of: ordinal) ?? outcome, of: ordinal, session)
        case .session(let client, let secret, let uid):
            // The client has begun the session here and has acted through another daemon: it comes
            // back to the session that has its actions.
            if let session = sessions.find(secret, uid: uid), session.client != client {
                drop(session, at: sequence)
            }
            // While this daemon lacked rows, an administrator's session got a number that they have.
            if let session = sessions.find(client: client), session.secret != secret {
                drop(session, at: sequence)
            }
            recovery.replay(fact, upTo: sequence)
        case .goodbye(let client), .evicted(let client):
            if let session = sessions.find(client: client) {
                close(session)
                forwarder.dropDoubts(of: session)
            }
            recovery.replay(fact, upTo: sequence)
        default: recovery.replay(fact, upTo: sequence)
        }
    }

    /// Ends a session that this daemon has begun, for that of a row.
    private func drop(_ session: Session, at sequence: UInt64) {
        close(session)
        forwarder.dropDoubts(of: session)
        sessions.end(session, at: sequence)
    }

    /// Records that the actions of a fact are decided.
    private func settle(_ fact: TurnFact) {
        let client: UInt64
        switch fact {
        case .run(let by, _, _, _, _, _), .action(let by, _, _, _), .refused(let by, _, _, _, _):
            client = by.client
        case .outcome(let of, _, _): client = of
        default: return
        }
        guard let session = sessions.find(client: client),
            let connection = session.connection.flatMap({ connections[$0] })
        else { return }
        forwarder.settle(session, connection)
    }

    /// Whether the client of an action asked to learn the end of its effects.
    private static func isAwaited(_ frame: [UInt8]) -> Bool {
        let header = try? FrameHeader.decode(frame.span, at: 0, frameBytesMax: Int(UInt32.max))
        return header?.flags.contains(.awaited) ?? false
    }

    /// Closes every connection at once, before a node gets another number: open nodes and slices are
    /// found by the numbers of nodes.
    private func cutConnections() {
        for connection in connections.inOrder where !connection.isClosed {
            subscriptions.leave(connection)
            openNodes.leave(connection)
            delivery.cut(connection)
        }
        subscriptions.dropCaches()
    }

    /// Closes the connection of a session that ends with the row.
    private func close(_ session: Session) {
        guard let connection = session.connection.flatMap({ connections[$0] }) else { return }
        _ = connection.takeSession()
        forwarder.abandonOwed(of: connection, isGoodbye: false)
        intake.close(
            connection, Closing(.kicked, "the session has ended or goes on in another daemon"))
    }
}

/// The reason why a following server does not apply a row.
package enum FollowError: Error, Equatable, Sendable {
    /// The row does not follow the last one. Nothing has changed.
    case misplaced(after: UInt64, expected: UInt64)
    /// The row begins another epoch: recover the server from the history that has the row. Nothing
    /// has changed.
    case otherEpoch(UInt64)
    /// The row cannot be applied, or leads to another state than in the leading daemon. The server
    /// must not be used any more.
    case unapplied(RecoveryError)
}

extension FollowError: CustomStringConvertible {
    /// The obstacle, and the next step.
    package var description: String {
        switch self {
        case .misplaced(let after, let expected):
            "a row of the leading daemon follows sequence \(after), expected one after "
                + "\(expected): read the rows again from there"
        case .otherEpoch(let epoch):
            "a row of the leading daemon begins epoch \(epoch): recover the tree from its history"
        case .unapplied(let error): "a row of the leading daemon cannot be applied: \(error)"
        }
    }
}
