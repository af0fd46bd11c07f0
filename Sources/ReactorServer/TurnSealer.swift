import ReactorBytes
import ReactorCore
import ReactorWire

/// Seals a turn: keeps its deltas for clients that reconnect, shares them with subscribers, and gives
/// the journal the turn's batch.
///
///     sealer.endTurn()        // the turn's actions and requests are handled
///
/// Without a journal there is no batch, and the deltas are copied only if a connection gets them.
///
/// *Place*: ``Server/endTurn(at:)`` calls it once a turn. It has no state besides the parts that it
/// calls in order; each part states its own invariants.
final class TurnSealer {
    private let turn: Turn
    private let orders: ShellOrders
    private let chronicle: Chronicle
    private let delivery: Delivery
    private let openNodes: OpenNodes
    private let sharing: SliceSharing
    private let subscriptions: Subscriptions
    private let answers: AnswerService
    private let quotas: UserQuotas
    private let states: StateCeiling
    /// Whether a journal stores each turn's batch. Without one, and while another daemon's rows are
    /// applied, a turn is released at its end.
    private var hasJournal: Bool

    /// Seals turns of `tree`.
    init(
        _ tree: Tree, _ orders: ShellOrders, _ chronicle: Chronicle, _ delivery: Delivery,
        _ openNodes: OpenNodes, _ sharing: SliceSharing, _ subscriptions: Subscriptions,
        _ answers: AnswerService, _ quotas: UserQuotas, _ states: StateCeiling,
        hasJournal: Bool
    ) {
        precondition(hasJournal || !chronicle.keepsHistory, "a history is kept without a journal")
        turn = tree.turn
        self.orders = orders
        self.chronicle = chronicle
        self.delivery = delivery
        self.openNodes = openNodes
        self.sharing = sharing
        self.subscriptions = subscriptions
        self.answers = answers
        self.quotas = quotas
        self.states = states
        self.hasJournal = hasJournal
    }

    /// Gives the journal no batch while `isFollowing` is true: the rows come from another daemon.
    func setFollowing(_ isFollowing: Bool) { hasJournal = !isFollowing }

    /// Seals the turn if it has a change, a fact, output or effects, and begins the next one.
    func endTurn() {
        // Effects that begin without a change are released with their turn as well.
        if chronicle.isUnsealed || delivery.hasListed || turn.hasEffects { seal() }
        states.endTurn()
        turn.begin()
    }

    /// Ends a turn that has nothing, so that the next one has another number.
    func skipTurn() {
        precondition(!chronicle.isUnsealed && !delivery.hasListed, "a turn with content is skipped")
        delivery.seal(delivery.takeListed(), [], batchByteCount: nil)
    }

    /// Collects the turn's changes, queues each connection's output, and orders the batch to be
    /// appended.
    private func seal() {
        if !turn.isQuiet { shareChanges() }
        sharing.selectChildren()
        let deltaByteCount = turn.deltaByteCount
        let listed = delivery.takeListed()
        let mark = endFrames(of: listed)
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
        let batchByteCount = batch.map { $0.deltas.range.count + $0.facts.count }
        // Before the queues take over the turn's actions.
        if quotas.hasRates { quotas.charge(listed, batchByteCount: batchByteCount ?? 0) }
        enqueue(for: listed, batch?.deltas.storage, mark)
        delivery.seal(
            listed, turn.hasEffects ? turn.effects : [], batchByteCount: batchByteCount)
        if let batch { orders.append(.append(batch)) }
        chronicle.beginTurn()
    }

    /// Passes the turn's changes to their subscribers.
    private func shareChanges() {
        // Subscribers of a removed node get its removal instead of its changes.
        for node in turn.removed {
            openNodes.close(node)
            subscriptions.close(node)
        }
        sharing.shareValues()
        sharing.shareChanges()
    }

    /// Completes the frames of connections. Appends the turn's mark behind its deltas if any of
    /// them gets it, so that both are one piece for most subscribers. Returns the mark's range; it
    /// is empty without a mark.
    private func endFrames(of listed: borrowing ReferenceList<Connection>) -> Range<Int> {
        var hasUpdates = false
        listed.visit { connection in
            sharing.payOwed(connection)
            if delivery.endFrames(of: connection) { hasUpdates = true }
        }
        let start = turn.deltaByteCount
        if hasUpdates { turn.append(FrameHeader(kind: .mark, number: turn.sequence)) }
        return start..<turn.deltaByteCount
    }

    /// Queues the output of connections. `deltas` are the turn's deltas and its mark, if they were
    /// copied for the journal.
    private func enqueue(
        for listed: borrowing ReferenceList<Connection>, _ deltas: [UInt8]?, _ mark: Range<Int>
    ) {
        let output = delivery.makeOutput(
            turn.sequence, deltas ?? (mark.isEmpty ? [] : turn.deltaBytes), mark)
        listed.visit { connection in
            if delivery.enqueue(connection, output) { subscriptions.leave(connection) }
        }
    }
}
