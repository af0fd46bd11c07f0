import DequeModule
import ReactorBytes
import ReactorCore

/// The actions of a client between ``ClientMachine/submit(_:then:whenKnown:)`` and their outcomes.
///
/// It numbers and encodes actions, and holds back those for which the window has no room. It keeps
/// the bytes of actions without an outcome for the next connection and for the journal, and returns
/// the deliveries that an outcome causes. It calls nothing back.
///
/// *Place*: a part of ``ClientMachine``, which borrows it for one verb at a time.
@usableFromInline
struct Outbox: ~Copyable {
    @usableFromInline var queue = ActionQueue()
    /// Limit of the bytes of waiting frames; an action beyond it is refused.
    private let queueBytesMax: Int
    private var waiting = WaitingActions()
    private var sent = SentActions()
    private var awaited = AwaitedActions()
    /// Previews of actions without an outcome, by the actions' ordinals.
    private var previews: [UInt64: PreviewTicket] = [:]
    /// Calls that wait for the outcomes of all actions up to an ordinal, in ascending order of
    /// ordinals.
    private var drains: [(ordinal: UInt64, then: () -> Void)] = []
    /// Ordinal up to which the daemon may forget outcomes.
    private var confirmed: UInt64 = 0
    /// Highest ordinal of the session whose action is known to be applied; 0 if none.
    private(set) var applied: UInt64 = 0
    /// Ordinal up to which the daemon is known to have processed the actions that it received.
    private(set) var processed: UInt64 = 0
    /// Keeps actions without an outcome across runs of the program; `nil` if the program did not
    /// ask for it, and once the client has ended.
    private var journal: ClientJournal?
    private var recovered = Recovered()

    /// Actions of an earlier run that have no outcome.
    private struct Recovered {
        var count = 0
        /// The nodes of those actions.
        var nodes: [NodeID] = []
    }

    init(queueBytesMax: Int) { self.queueBytesMax = queueBytesMax }

    /// Actions that have no outcome, sent or not.
    var pendingCount: Int { queue.pending.inFlight + queue.pending.waitingCount }
    /// Actions that were sent and have no outcome.
    var inFlight: Int { queue.pending.inFlight }
    /// Limit of the outcomes that the daemon may still send: an awaited action has two.
    var outcomeCountMax: Int { queue.pending.inFlight + awaited.count }
    /// Actions whose effects are awaited.
    var awaitedCount: Int { awaited.count }
    /// Highest ordinal up to which every outcome has arrived.
    var contiguous: UInt64 { queue.pending.contiguous }
    /// True while a mirror shows an action without an outcome.
    var hasPreviews: Bool { !previews.isEmpty }
    var hasJournal: Bool { journal != nil }
    var hasOutgoing: Bool { queue.writer.count > 0 }
    /// True if an outcome may have other receivers than the completion of its action.
    private var hasListeners: Bool {
        !awaited.isEmpty || !previews.isEmpty || recovered.count > 0
    }
}

// MARK: - Submitting
extension Outbox {
    /// Takes an action: encodes it for the connection, or after the actions that wait.
    ///
    /// `listener` receives the outcome before the effects of the action have ended.
    /// *Throws*: if too many bytes wait, or the action is too large; the action is not taken then.
    mutating func submit(
        _ action: OutgoingAction, _ listener: AwaitedActions.Listener?,
        then completion: PendingActions.Completion?
    ) throws(ClientError) {
        defer { invariants() }
        let ordinal = queue.pending.next
        let bodyBytesMax = queue.bodyBytesMax
        let isOpen = queue.isOpen
        action.preview?.assign(ordinal)
        if isOpen {
            try action.encode(as: ordinal, bodyBytesMax: bodyBytesMax, into: &queue.writer)
        } else {
            guard waiting.byteCount < queueBytesMax else {
                throw .queueFull(bytesMax: queueBytesMax)
            }
            try waiting.append { writer throws(ClientError) in
                try action.encode(as: ordinal, bodyBytesMax: bodyBytesMax, into: &writer)
            }
        }
        queue.pending.append(completion)
        if isOpen { queue.pending.send() }
        if action.awaitsEffects { awaited.add(ordinal, listener) }
        if let preview = action.preview { previews[ordinal] = preview }
    }

    /// Moves waiting actions to the connection, as far as the window has room.
    private mutating func releaseWaiting() {
        let room = queue.window - queue.pending.inFlight
        guard waiting.count > 0, room > 0 else { return }
        let count = min(waiting.count, room)
        waiting.move(count, to: &queue.writer)
        queue.pending.send(count)
    }

    /// Hands over the bytes for the connection, and keeps the bytes of actions to send them again.
    mutating func takeOutgoing() -> OutgoingBytes? {
        let count = queue.writer.count
        guard count > 0 else { return nil }
        defer { invariants() }
        let bytes = queue.writer.bytes
        queue.writer.removeAll()
        let last = queue.pending.sentEnd &- 1
        if last >= queue.pending.first {
            sent.append(SentActions.Chunk(bytes: bytes, count: count, last: last))
        }
        return OutgoingBytes(bytes: bytes, range: 0..<count)
    }
}

// MARK: - Outcomes
extension Outbox {
    /// Checks that these actions can have outcomes.
    ///
    /// *Throws*: a fault of the daemon if they cannot.
    func check(_ ordinal: UInt64, _ count: UInt64) throws(ClientFault) {
        let end = queue.pending.sentEnd
        guard ordinal > 0, count > 0, ordinal < end, count <= end - ordinal else {
            throw ClientFault("outcomes of \(count) actions from \(ordinal) on, never sent")
        }
    }

    /// Records that the daemon has processed all actions up to `ordinal`.
    mutating func advance(to ordinal: UInt64) { processed = max(processed, ordinal) }

    /// Counts the actions of a run as applied. Returns how many of the first have their outcomes
    /// already, and whether the others must be concluded one by one.
    mutating func apply(
        _ ordinal: UInt64, _ count: UInt64
    ) -> (concludedCount: UInt64, hasListeners: Bool) {
        applied = max(applied, ordinal &+ count &- 1)
        // A daemon that repeats old ordinals must not cost a walk over all of them.
        return (queue.pending.concludedCount(of: count, from: ordinal), hasListeners)
    }

    /// The completion of a plain action that was applied; only if ``apply(_:_:)`` found no
    /// listeners.
    @inline(__always)
    mutating func takeCompletion(_ ordinal: UInt64) -> PendingActions.Completion? {
        if case .told(let completion) = queue.pending.take(ordinal) { completion } else { nil }
    }

    /// Concludes an action or, if its effects are awaited, keeps the outcome until they end.
    mutating func conclude(_ ordinal: UInt64, _ outcome: ActionOutcome) -> Delivery? {
        guard awaited.contains(ordinal) else { return finish(ordinal, outcome) }
        defer { invariants() }
        var delivery = Delivery(ordinal, outcome)
        delivery.preview = previews.removeValue(forKey: ordinal)
        delivery.listener = awaited.keep(outcome, of: ordinal)
        return delivery
    }

    /// Records as applied an action with a separate outcome frame.
    mutating func apply(_ ordinal: UInt64) { applied = max(applied, ordinal) }

    /// Concludes an action whose effects have ended; `nil` if it was concluded before, on an
    /// earlier connection.
    mutating func endEffects(of ordinal: UInt64) -> Delivery? {
        awaited.outcome(of: ordinal).flatMap { finish(ordinal, $0) }
    }

    /// Takes an action out with its last outcome.
    private mutating func finish(_ ordinal: UInt64, _ outcome: ActionOutcome) -> Delivery? {
        defer { invariants() }
        var delivery = Delivery(ordinal, outcome)
        switch queue.pending.take(ordinal) {
        case .concluded: return nil
        case .silent: break
        case .told(let completion): delivery.completion = completion
        case .recovered:
            delivery.isRecovered = true
            recovered.count -= 1
        }
        if !awaited.isEmpty { delivery.listener = awaited.remove(ordinal) }
        if !previews.isEmpty { delivery.preview = previews.removeValue(forKey: ordinal) }
        return delivery
    }

    /// The nodes of an earlier run's actions, once all of those have their outcomes.
    mutating func takeRecoveredNodes() -> [NodeID] {
        guard recovered.count == 0 else { return [] }
        defer { recovered.nodes = [] }
        return recovered.nodes
    }

    /// Nodes that may be gone, given that the daemon rejected an action with `code`.
    func lostNodes(of ordinal: UInt64, rejectedWith code: String) -> [UInt32] {
        let isNotFound = code == FaultCode.notFound.rawValue
        // A daemon cannot decode a batch that names a node which is gone.
        guard isNotFound || code == FaultCode.decode.rawValue, queue.pending.isPending(ordinal),
            let frame = queue.pending.frame(ofStraggler: ordinal) ?? sent.frame(of: ordinal),
            isNotFound || frame[4] == FrameKind.batch.rawValue
        else { return [] }
        return ActionFrames.nodes(of: frame.span)
    }

    /// After outcomes: drops the bytes that need not be sent again, sends waiting actions, and now
    /// and then confirms to the daemon which outcomes it may forget. Returns the drains that are
    /// over.
    mutating func settle() -> [() -> Void] {
        defer { invariants() }
        while queue.pending.isHeldUp, let frame = sent.frame(of: queue.pending.first) {
            queue.pending.setAside(frame)
        }
        sent.forget(upTo: queue.pending.first &- 1)
        releaseWaiting()
        let contiguous = contiguous
        if contiguous &- confirmed >= UInt64(max(queue.window / 2, 1)) {
            confirmed = contiguous
            queue.writer.header(FrameHeader(kind: .confirm, number: confirmed))
        }
        if drains.isEmpty { return [] }
        let over = drains.prefix { $0.ordinal <= contiguous }
        drains.removeFirst(over.count)
        return over.map(\.then)
    }

    /// Keeps a call until every action submitted so far has an outcome; returns false if all of
    /// them have one.
    mutating func drain(_ completion: @escaping () -> Void) -> Bool {
        let last = queue.pending.next - 1
        guard contiguous < last else { return false }
        drains.append((last, completion))
        return true
    }
}

// MARK: - Connections
extension Outbox {
    /// After the welcome: writes actions without an outcome again, with the same ordinals.
    ///
    /// `ordinal` is the last one of the session that the daemon has; 0 if the session is new.
    mutating func resend(after ordinal: UInt64, bodyBytesMax: Int) {
        defer { invariants() }
        queue.bodyBytesMax = bodyBytesMax
        confirmed = contiguous
        processed = max(processed, ordinal)
        for ordinal in queue.pending.stragglerOrdinals {
            if let frame = queue.pending.frame(ofStraggler: ordinal) { queue.writer.raw(frame) }
        }
        for chunk in sent.removeAll() {
            for range in pendingRanges(in: chunk.bytes.span, upTo: chunk.count) {
                queue.writer.raw(chunk.bytes.span.extracting(range))
            }
        }
    }

    /// Admits new actions, and those that wait, to the connection.
    mutating func open(window: Int) {
        defer { invariants() }
        queue.window = window
        releaseWaiting()
    }

    /// Handles a connection that is lost or closed: actions submitted from now on wait.
    mutating func close() { queue.window = 0 }

    /// Drops the bytes that the connection has not taken.
    mutating func dropOutgoing() { queue.writer.removeAll() }

    /// Forgets that actions were applied: the daemon's history no longer contains them.
    mutating func forgetApplied() { applied = 0 }

    /// The ranges in `bytes` of actions that are in the ring and have no outcome.
    private func pendingRanges(
        in bytes: Span<UInt8>, from start: Int = 0, upTo end: Int, after last: UInt64 = 0
    ) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        ActionFrames.forEach(in: bytes, start..<end) { ordinal, range in
            if ordinal > last, ordinal >= queue.pending.first, queue.pending.isPending(ordinal) {
                ranges.append(range)
            }
        }
        return ranges
    }

    /// Gives up the actions that were sent: the session is lost, and their outcomes stay unknown.
    ///
    /// `haveEffectsEnded` says that the daemon was restarted: none of their effects runs any more.
    mutating func giveUpSent(
        _ reason: UnknownReason, haveEffectsEnded: Bool = false
    ) -> [Delivery] {
        _ = sent.removeAll()
        let ring = queue.pending.first..<queue.pending.sentEnd
        var deliveries: [Delivery] = []
        for ordinal in queue.pending.stragglerOrdinals + Array(ring) {
            let known = haveEffectsEnded ? awaited.outcome(of: ordinal) : nil
            let outcome = known?.withoutOwner ?? .unknown(reason)
            if let delivery = finish(ordinal, outcome) { deliveries.append(delivery) }
        }
        confirmed = contiguous
        return deliveries
    }

    /// Concludes the actions that wait: they will never be sent.
    mutating func giveUpWaiting(_ outcome: ActionOutcome) -> [Delivery] {
        let ring = queue.pending.sentEnd..<queue.pending.next
        waiting.removeAll()
        queue.pending.send(queue.pending.waitingCount)
        return ring.compactMap { finish($0, outcome) }
    }

    /// Moves out the calls that wait for outcomes: the client has ended.
    mutating func takeDrains() -> [() -> Void] {
        defer { drains = [] }
        return drains.map(\.then)
    }

    /// Renumbers the waiting actions from the ordinal after `ordinal` on; none was sent yet.
    mutating func renumber(after ordinal: UInt64) {
        defer { invariants() }
        queue.pending.shift(by: ordinal)
        awaited.shift(by: ordinal)
        var moved: [UInt64: PreviewTicket] = [:]
        for (old, preview) in previews {
            moved[old + ordinal] = preview
            preview.assign(old + ordinal)
        }
        previews = moved
        for index in drains.indices { drains[index].ordinal += ordinal }
        waiting.renumber(by: ordinal)
    }
}

// MARK: - The journal
extension Outbox {
    /// Number of ordinals that are skipped between the runs of a program.
    ///
    /// It exceeds the number of actions that a run can have lost from the journal's end in a power
    /// cut. None of their ordinals may be given to another action.
    static let ordinalsPassedOver: UInt64 = 1 << 32

    /// Continues with the actions that an earlier run left in `journal`, and returns them.
    mutating func recover(from journal: ClientJournal) -> PendingState {
        defer { invariants() }
        self.journal = journal
        let state = journal.takeRecovered()
        queue.pending.start(from: state.last == 0 ? 1 : state.last + Self.ordinalsPassedOver + 1)
        confirmed = state.concluded
        for (ordinal, frame) in state.frames { queue.pending.restore(ordinal, frame) }
        recovered.count = state.frames.count
        recovered.nodes = state.nodesInUse.map(NodeID.init(rawValue:))
        return state
    }

    /// True while the journal lacks an action that it has to keep.
    var mustKeep: Bool {
        guard let journal else { return false }
        return journal.needsRewrite || queue.pending.next &- 1 > journal.keptLast
    }

    /// Stores the session in the journal: its secret, the daemon's epoch and its first sequence.
    func keep(session: [UInt8], epoch: UInt64, since: UInt64?) {
        journal?.keep(session: session, epoch: epoch, since: since)
    }

    /// Writes to the journal the actions that are about to leave, and those that wait; `path`
    /// returns the path of a node's number.
    ///
    /// *Throws*: if the journal cannot be written. It is no longer used then, and no bytes leave.
    mutating func keep(path: (UInt32) -> String?) throws(ClientError) {
        guard let journal, mustKeep || confirmed > journal.concluded else { return }
        do throws(ClientError) {
            try write(to: journal, path)
        } catch {
            self.journal = nil
            queue.writer.removeAll()
            throw error
        }
    }

    private func write(
        to journal: ClientJournal, _ path: (UInt32) -> String?
    ) throws(ClientError) {
        let last = queue.pending.next - 1
        let isWhole = journal.needsRewrite
        var portion = ClientJournal.Portion()
        if isWhole {
            for ordinal in queue.pending.stragglerOrdinals {
                if let frame = queue.pending.frame(ofStraggler: ordinal) { portion.add(frame.span) }
            }
            for chunk in sent.chunks { add(chunk.bytes.span, chunk.count, to: &portion, after: 0) }
        }
        let kept = isWhole ? 0 : journal.keptLast
        if last > kept {
            queue.writer.withBytes { add($0, $0.count, to: &portion, after: kept) }
            waiting.withFrames { add($0, $0.count, to: &portion, after: kept) }
        }
        if isWhole {
            try journal.rewrite(portion, last: last, concluded: contiguous, path: path)
        } else {
            try journal.append(portion, last: last, concluded: contiguous, path: path)
        }
    }

    private func add(
        _ bytes: Span<UInt8>, _ end: Int, to portion: inout ClientJournal.Portion,
        after last: UInt64
    ) {
        for range in pendingRanges(in: bytes, upTo: end, after: last) {
            portion.add(bytes.extracting(range))
        }
    }

    /// Closes the journal as the client ends; returns which actions without an outcome it has.
    mutating func leaveJournal(path: (UInt32) -> String?) -> KeptActions {
        guard let journal else { return .none }
        self.journal = nil
        guard (try? write(to: journal, path)) != nil else { return lostJournal }
        if pendingCount > 0 { return .all }
        // The daemon drops a session after its goodbye: the next run begins a new one.
        try? journal.clear()
        return .none
    }

    /// Which actions without an outcome a journal may have after a failed write.
    var lostJournal: KeptActions { pendingCount > 0 ? .uncertain : .none }
}

/// Which actions without an outcome a client's closed journal has.
enum KeptActions {
    case none
    /// All of them, for the next run.
    case all
    /// Unknown: the journal could not be written, and may have any of them.
    case uncertain
}

// MARK: - Invariants
extension Outbox {
    /// Traps in a debug build unless the parts agree about which actions wait, and the ring knows
    /// each action that is awaited, previewed or confirmed.
    private func invariants() {
        queue.pending.invariants()
        assert(
            waiting.count == queue.pending.waitingCount,
            "\(waiting.count) frames wait for \(queue.pending.waitingCount) actions")
        assert(confirmed <= contiguous, "\(confirmed) is confirmed and has no outcome")
        assert(
            awaited.ordinals.allSatisfy { queue.pending.isPending($0) },
            "an action is awaited and has ended")
        assert(
            previews.keys.allSatisfy { queue.pending.isPending($0) },
            "an action is shown and has its outcome")
        assert(recovered.count <= queue.pending.inFlight, "more actions recovered than in flight")
        assert(zip(drains, drains.dropFirst()).allSatisfy { $0.ordinal <= $1.ordinal })
    }
}
