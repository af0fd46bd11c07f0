import ReactorBytes
import ReactorCore
import ReactorWire

/// Seals a turn: keeps its deltas for clients that reconnect, shares them with subscribers, and gives
/// the journal the turn's batch.
///
///     sealer.seal()       // the turn's actions and requests are handled
///
/// Without a journal there is no batch, and the deltas are copied only if a connection gets them.
///
/// *Place*: ``Server/endTurn(at:)`` calls it once a turn. It has no state besides the parts that it
/// calls in order; each part states its own invariants.
final class TurnSealer {
    private let tree: Tree
    private let orders: ShellOrders
    private let chronicle: Chronicle
    private let delivery: Delivery
    private let openNodes: OpenNodes
    private let sharing: SliceSharing
    private let subscriptions: Subscriptions
    private let answers: AnswerService
    /// Whether a journal stores each turn's batch. Without one, a turn is released at its end.
    private let hasJournal: Bool

    /// Seals turns of `tree`.
    init(
        _ tree: Tree, _ orders: ShellOrders, _ chronicle: Chronicle, _ delivery: Delivery,
        _ openNodes: OpenNodes, _ sharing: SliceSharing, _ subscriptions: Subscriptions,
        _ answers: AnswerService, hasJournal: Bool
    ) {
        precondition(hasJournal || !chronicle.keepsHistory, "a history is kept without a journal")
        self.tree = tree
        self.orders = orders
        self.chronicle = chronicle
        self.delivery = delivery
        self.openNodes = openNodes
        self.sharing = sharing
        self.subscriptions = subscriptions
        self.answers = answers
        self.hasJournal = hasJournal
    }

    /// Collects the turn's changes, queues each connection's output, and orders the batch to be
    /// appended.
    func seal() {
        let turn = tree.turn
        let (deltaByteCount, mark) = endChanges()
        let isChange = chronicle.hasChanges
        if isChange {
            orders.stats.turns &+= 1
            answers.grow(by: deltaByteCount)
            turn.withDeltas { bytes in
                subscriptions.storeDeltas(
                    bytes.extracting(0..<deltaByteCount), after: chronicle.turnStart)
            }
        }
        let batch =
            hasJournal && (isChange || chronicle.hasFacts)
            ? chronicle.makeBatch(
                of: delivery.turn, ByteSlice(turn.deltaBytes, range: 0..<deltaByteCount)) : nil
        delivery.seal(
            shareOut(batch?.deltas.storage, mark), turn.effects,
            batchByteCount: batch.map { $0.deltas.range.count + $0.facts.count })
        if let batch { orders.append(.append(batch)) }
        chronicle.beginTurn()
    }

    /// Passes the turn's changes to their subscribers. Returns the number of bytes of the turn's
    /// deltas, and the range of the mark after them.
    private func endChanges() -> (deltaByteCount: Int, mark: Range<Int>) {
        let turn = tree.turn
        if turn.isQuiet { return (turn.deltaByteCount, appendMark()) }
        // Subscribers of a removed node get its removal instead of its changes.
        for node in turn.removed {
            openNodes.close(node)
            subscriptions.close(node)
        }
        sharing.shareValues()
        let deltaByteCount = turn.deltaByteCount
        let mark = appendMark()
        sharing.shareChanges()
        return (deltaByteCount, mark)
    }

    /// Queues each connection's output, and returns these connections. `deltas` are the turn's
    /// deltas and its mark, if they were copied for the journal.
    private func shareOut(_ deltas: [UInt8]?, _ mark: Range<Int>) -> ReferenceList<Connection> {
        let listed = delivery.takeListed()
        var hasUpdates = false
        listed.visit { connection in
            sharing.payOwed(connection)
            if delivery.endFrames(of: connection) { hasUpdates = true }
        }
        let turn = tree.turn
        let output = delivery.makeOutput(
            turn.sequence, deltas ?? (hasUpdates ? turn.deltaBytes : []), mark)
        listed.visit { connection in
            if delivery.enqueue(connection, output) { subscriptions.leave(connection) }
        }
        return listed
    }

    /// Appends the turn's mark behind its deltas, so that both are one piece for most subscribers.
    private func appendMark() -> Range<Int> {
        let start = tree.turn.deltaByteCount
        tree.turn.append(FrameHeader(kind: .mark, number: tree.turn.sequence))
        return start..<tree.turn.deltaByteCount
    }
}
