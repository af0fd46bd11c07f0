import DequeModule
import ReactorBytes
import ReactorWire

/// The output of one connection: the current turn's output, and the queue for the socket.
///
/// A turn adds ranges of the turn's buffers (``addDeltas(_:)``, ``addReply(_:)``,
/// ``addOutcome(_:isCounted:)``). At its end ``enqueue(_:at:)`` makes segments of them: replies,
/// updates, the mark, then outcomes, so that an outcome never overtakes the changes of its action.
/// Once the journal has the turn's batch, ``flush(upTo:writeBytesMax:at:ended:)`` returns segments
/// for the socket, one write at a time.
///
/// If the updates of a slow reader exceed `queueBytesMax`, the outlet drops them, and snapshots
/// replace them later. It never drops replies and outcomes. The server bounds those: it stops
/// reading from a client that has too many of them (``undrainedByteCount``, ``inFlight``).
///
/// *Place*: in a ``Connection``. *Owner*: the server; no verb calls back. ``invariants()`` states
/// the invariants.
struct Outlet: ~Copyable {
    /// The current turn's output for the connection.
    private var pending = PendingOutput()
    /// Segments that wait for the socket, in order.
    private var queue = UniqueDeque<Segment>()
    /// Large answers, which leave in parts after ``queue``, in order.
    private(set) var streams: [AnswerStream] = []
    /// Cost of the updates and snapshots in ``queue``.
    private(set) var updateByteCount = 0
    /// Cost of the outcomes, replies and marks in ``queue``, which are never dropped.
    private(set) var controlByteCount = 0
    /// Actions whose outcomes the socket does not have.
    private(set) var inFlight = ActionCount()
    /// Actions since the connection was opened.
    private(set) var actionCount: UInt64 = 0
    /// Those of ``inFlight`` that ran in the current turn.
    private(set) var turnActions = ActionCount()
    /// Actions of the turn's batches beyond one for each batch; they count for rates.
    private(set) var furtherActions = 0
    /// Whether the client's copies follow the tree.
    private(set) var state = State.current
    /// Whether a write to the socket is in progress.
    private(set) var isWriting = false
    /// Whether the connection is in an ``UpdateQueue``.
    private(set) var isListed = false
    /// The last turn with more than updates for the connection.
    private var urgentTurn: UInt64 = 0
    /// The last turn with output for the connection.
    private var listedTurn: UInt64 = 0
    /// Sequence of the last mark.
    private(set) var markedSequence: UInt64 = 0

    /// Whether a client's copies follow the tree.
    enum State: String {
        /// Every subscription has its snapshot, and gets the updates that follow it.
        case current
        /// A subscription waits for its snapshot.
        case behind
        /// Updates were dropped: no mark is sent until every subscription has a new snapshot.
        case lagging
        /// Updates were dropped, and the client does not want snapshots in their place: no mark is
        /// sent.
        case detached
    }

    /// Bytes of updates above which a connection does not wait in an ``UpdateQueue``.
    static let patientBytesMax = 64 << 10
    /// Maximum number of segments of one write.
    static let segmentsPerWriteMax = 64

    /// The server's next step after it has looked for output.
    enum Flush {
        /// A write is in progress; look again after it.
        case busy
        /// Pass this to the socket.
        case write(ByteSlices)
        /// Nothing may leave now.
        case idle
    }
}

// MARK: - The current turn
extension Outlet {
    /// Bytes of replies and outcomes that the client has not read.
    var undrainedByteCount: Int { controlByteCount + pending.controlByteCount }

    /// Bytes that wait for the client, large answers excluded.
    var queuedByteCount: Int { updateByteCount + controlByteCount }

    /// Whether the last mark is before `sequence`.
    func isMarked(before sequence: UInt64) -> Bool { markedSequence < sequence }

    /// Records that `turn` has output for the connection; returns whether that is new.
    mutating func list(in turn: UInt64) -> Bool {
        guard listedTurn != turn else { return false }
        listedTurn = turn
        return true
    }

    /// Whether the current turn has updates for the connection.
    var hasUpdates: Bool { pending.hasUpdates }

    /// Whether `turn` has output for the connection.
    func isListed(in turn: UInt64) -> Bool { listedTurn == turn }

    /// Records that `turn` has more than updates for the connection, which leaves without delay.
    mutating func makeUrgent(in turn: UInt64) { urgentTurn = turn }

    /// Adds a range of the turn's deltas.
    mutating func addDeltas(_ range: Range<Int>) { pending.deltas.append(range) }

    /// Adds encoded frames: a value or a patch, which may be dropped, or a snapshot, which may not.
    mutating func addChunk(_ frames: [UInt8], isSnapshot: Bool) {
        pending.chunks.append((frames, isSnapshot))
    }

    /// Adds a range of the turn's replies.
    mutating func addReply(_ range: Range<Int>) {
        pending.replies.append(range)
        pending.controlByteCount += range.count
    }

    /// Adds a range of the turn's outcomes. Frames that a client can cause without limit count in
    /// ``undrainedByteCount`` at once.
    mutating func addOutcome(_ range: Range<Int>, isCounted: Bool) {
        pending.outcomes.append(range)
        if isCounted { pending.controlByteCount += range.count }
    }

    /// Adds consecutive actions that were applied. If they do not continue the run before them,
    /// returns that run, whose frame the caller writes first.
    mutating func addRun(_ run: AppliedRun) -> AppliedRun? {
        if pending.run.isContinued(by: run) {
            pending.run.count &+= run.count
            return nil
        }
        let earlier = takeRun()
        pending.run = run
        return earlier
    }

    /// Takes the run whose frame is not written.
    mutating func takeRun() -> AppliedRun? {
        guard pending.run.count > 0 else { return nil }
        defer { pending.run.count = 0 }
        return pending.run
    }

    /// Requires the turn's mark, even without a change: an announced answer is as of that mark.
    mutating func announceMark() { pending.isMarkAnnounced = true }

    /// Requires a mark, in the turn in which the connection subscribes.
    mutating func forgetMark() { markedSequence = 0 }

    /// Counts actions that run in the current turn.
    mutating func beginActions(_ count: Int, byteCount: Int) {
        let actions = ActionCount(count: count, byteCount: byteCount)
        actionCount &+= UInt64(count)
        turnActions += actions
        inFlight += actions
        invariants()
    }

    /// Counts the actions of a batch in the current turn, which counts as one otherwise.
    mutating func countBatch(of count: Int) { furtherActions += max(0, count - 1) }

    // MARK: Snapshots

    /// Records that a subscription waits for its snapshot.
    mutating func fallBehind() {
        if state == .current { state = .behind }
    }

    /// Records that every subscription has its snapshot.
    mutating func catchUp() {
        state = .current
        invariants()
    }

    /// Records that the client does not want snapshots any more.
    mutating func detach() {
        state = hasDroppedUpdates ? .detached : .current
        invariants()
    }

    /// Whether a subscription waits for its snapshot.
    var owesSnapshots: Bool { state == .behind || state == .lagging }

    /// Whether updates were dropped and no snapshots have replaced them.
    private var hasDroppedUpdates: Bool { state == .lagging || state == .detached }

    /// Whether the connection waits for snapshots and has room for one.
    func canTakeSnapshot(queueBytesMax: Int) -> Bool {
        switch state {
        case .current, .detached: false
        case .behind: updateByteCount < queueBytesMax
        case .lagging: updateByteCount == 0 && !isWriting
        }
    }

    /// Bytes of snapshots that the queue has room for. A client that lags gets all its snapshots at
    /// once: its slices move together again only when it has all of them.
    func snapshotRoom(queueBytesMax: Int) -> Int {
        state == .lagging ? .max : queueBytesMax - updateByteCount
    }

    // MARK: The end of a turn

    /// Whether the turn's updates exceed what the queue may hold. Updates of any size fit an empty
    /// queue: one turn may be larger than the limit.
    func overflows(queueBytesMax: Int) -> Bool {
        guard updateByteCount > 0, pending.hasUpdates else { return false }
        let byteCount = pending.droppableByteCount
        return byteCount > 0 && updateByteCount + byteCount > queueBytesMax
    }

    /// Whether the turn of the first segment is released.
    func hasReleased(upTo releasedTurn: UInt64) -> Bool {
        !queue.isEmpty && queue[0].turn <= releasedTurn
    }

    /// Queues what the turn has for the connection; answers whether updates were dropped, and
    /// snapshots are owed in their place.
    mutating func enqueue(_ turn: borrowing TurnOutput, given status: ConnectionStatus) -> Bool {
        // A small range of a large buffer is copied for a connection that has to wait, which would
        // keep the whole buffer alive.
        let isWaiting = isWriting || isListed || status.isUpdateQueueFull
        for index in 0..<pending.replies.count {
            append(turn.replies, pending.replies[index], .control, turn.number, isWaiting)
        }
        // A closing connection gets one more turn, whose mark is its last: nothing is dropped.
        let isCut = !status.isClosing && overflows(queueBytesMax: status.queueBytesMax)
        if isCut {
            conflate(releasedTurn: status.releasedTurn)
            pending.deltas.clear()
            pending.chunks.removeAll { !$0.isSnapshot }
        }
        for chunk in pending.chunks {
            append(
                chunk.bytes, 0..<chunk.bytes.count, chunk.isSnapshot ? .snapshot : .update,
                turn.number, isWaiting)
        }
        if isMarkDue(turn, status) {
            pending.deltas.append(turn.mark)
            markedSequence = turn.sequence
        }
        for index in 0..<pending.deltas.count {
            append(turn.deltas, pending.deltas[index], .update, turn.number, isWaiting)
        }
        for index in 0..<pending.outcomes.count {
            append(turn.outcomes, pending.outcomes[index], .control, turn.number, isWaiting)
        }
        if !pending.outcomes.isEmpty || !pending.replies.isEmpty || status.isClosing
            || status.isInputEnded
        {
            urgentTurn = turn.number
        }
        settleActions(hasOutcomes: !pending.outcomes.isEmpty)
        pending.clear()
        invariants()
        return isCut
    }

    /// Drops everything: the socket is closed, or is about to be.
    mutating func clear() {
        pending = PendingOutput()
        queue.removeAll()
        updateByteCount = 0
        controlByteCount = 0
        inFlight = ActionCount()
        (turnActions, furtherActions) = (ActionCount(), 0)
        invariants()
    }

    /// Whether the client is sent the turn's mark.
    private func isMarkDue(_ turn: borrowing TurnOutput, _ status: ConnectionStatus) -> Bool {
        if hasDroppedUpdates { return false }
        if pending.hasUpdates { return true }
        guard status.hasSubscriptions else { return false }
        if pending.isMarkAnnounced { return true }
        // Marks alone must not fill the queue of a client that never reads. An outcome always
        // follows the mark of its turn.
        return markedSequence < turn.sequence
            && (updateByteCount <= status.queueBytesMax || !pending.outcomes.isEmpty)
    }

    /// Keeps the turn's actions in flight until the last of their outcomes leaves.
    private mutating func settleActions(hasOutcomes: Bool) {
        guard turnActions.count > 0 else { return }
        if hasOutcomes {
            queue[queue.count - 1].actions = turnActions
        } else {
            inFlight -= turnActions
        }
        (turnActions, furtherActions) = (ActionCount(), 0)
    }

    /// Drops the queued updates.
    private mutating func conflate(releasedTurn: UInt64) {
        updateByteCount = 0
        var kept = UniqueDeque<Segment>()
        while let segment = queue.popFirst() {
            if segment.kind == .update { continue }
            if segment.kind == .snapshot { updateByteCount += segment.cost }
            kept.append(segment)
        }
        queue = kept
        // The outcomes stay in the queue without the updates before them. The lag frame tells the
        // client before it reads the outcomes.
        let lag = Segment(
            bytes: Self.lagFrame, range: 0..<Self.lagFrame.count, releasedTurn, .control)
        queue.prepend(lag)
        controlByteCount += lag.cost
        state = .lagging
    }

    private static let lagFrame: [UInt8] = {
        var writer = WireWriter()
        writer.header(FrameHeader(kind: .lag))
        return writer.bytes
    }()

    private mutating func append(
        _ bytes: [UInt8], _ range: Range<Int>, _ kind: Segment.Kind, _ turn: UInt64,
        _ isWaiting: Bool
    ) {
        if isWaiting, bytes.count > 4 * range.count + 4_096 {
            append(Segment(bytes: Array(bytes[range]), range: 0..<range.count, turn, kind))
        } else {
            append(Segment(bytes: bytes, range: range, turn, kind))
        }
    }

    private mutating func append(_ segment: consuming Segment) {
        if segment.kind == .control {
            controlByteCount += segment.cost
        } else {
            updateByteCount += segment.cost
        }
        queue.append(segment)
    }

    private mutating func removeFirst() -> Segment {
        let segment = queue.removeFirst()
        inFlight -= segment.actions
        if segment.kind == .control {
            controlByteCount -= segment.cost
        } else {
            updateByteCount -= segment.cost
        }
        return segment
    }

    // MARK: To the socket

    /// Whether what `turn` has for the connection waits for no other: more than updates, or so many
    /// of them that they would cost memory.
    func isUrgent(in turn: UInt64) -> Bool {
        urgentTurn >= turn || updateByteCount > Self.patientBytesMax
    }

    /// Whether no segment waits.
    var isEmpty: Bool { queue.isEmpty }

    /// Records that the connection is in an ``UpdateQueue``; returns whether it was in none.
    mutating func enterUpdateQueue() -> Bool {
        defer { isListed = true }
        return !isListed
    }

    /// Records that the connection has left its ``UpdateQueue``.
    mutating func leaveUpdateQueue() { isListed = false }

    /// Takes output that may leave: segments of released turns, about `writeBytesMax` bytes, then
    /// parts of large answers. Moves a complete answer to `ended`.
    mutating func flush(
        upTo releasedTurn: UInt64, writeBytesMax: Int, at now: UInt64, ended: inout [AnswerStream]
    ) -> Flush {
        if isWriting { return .busy }
        var slices = ByteSlices()
        var byteCount = 0
        while !queue.isEmpty, queue[0].turn <= releasedTurn, byteCount < writeBytesMax,
            slices.count < Self.segmentsPerWriteMax
        {
            let segment = removeFirst()
            byteCount += segment.range.count
            slices.append(ByteSlice(segment.bytes, range: segment.range))
        }
        if !streams.isEmpty {
            // Large answers make progress even if the connection has many updates.
            let room = max(writeBytesMax - byteCount, WireWriter.partBytesMax)
            let parts = takeParts(upTo: releasedTurn, byteCountMax: room, at: now, ended: &ended)
            if !parts.isEmpty { slices.append(ByteSlice(parts)) }
        }
        invariants()
        if slices.isEmpty { return .idle }
        isWriting = true
        return .write(slices)
    }

    /// Records that the socket took all of the last write.
    mutating func endWrite() { isWriting = false }

    /// Continues the output of a former process, whose `bytes` wait for the socket.
    mutating func begin(
        with bytes: [UInt8], _ state: State = .current, markedAt sequence: UInt64 = 0,
        actionCount: UInt64 = 0
    ) {
        if !bytes.isEmpty { append(Segment(bytes: bytes, range: 0..<bytes.count, 0, .control)) }
        (self.state, markedSequence, self.actionCount) = (state, sequence, actionCount)
    }

    // MARK: Large answers

    /// Whether a large answer is under way.
    var hasStreams: Bool { !streams.isEmpty }

    /// The large answers of which the client has not everything.
    var answers: [Answer] { streams.map(\.answer) }

    /// When the socket last took a part of the first large answer, in nanoseconds.
    var streamMovedAt: UInt64? { streams.first?.movedAt }

    /// Queues a large answer, which leaves in parts.
    mutating func send(_ stream: AnswerStream) {
        streams.append(stream)
        urgentTurn = stream.turn
    }

    /// Removes the first large answer, whose rest is not sent.
    mutating func cutStream() -> AnswerStream? { streams.isEmpty ? nil : streams.removeFirst() }

    private mutating func takeParts(
        upTo releasedTurn: UInt64, byteCountMax: Int, at now: UInt64, ended: inout [AnswerStream]
    ) -> [UInt8] {
        var writer = WireWriter(capacity: 0)
        while writer.count < byteCountMax, let first = streams.first, first.turn <= releasedTurn {
            streams[0].appendPart(to: &writer, at: now)
            if streams[0].isComplete { ended.append(streams.removeFirst()) }
        }
        return writer.bytes
    }

    // MARK: Invariants

    /// Bytes of the buffers that the queue keeps alive. *Cost*: O(segments).
    var keptByteCount: Int {
        var byteCount = 0
        for index in queue.indices { byteCount += queue[index].bytes.count }
        return byteCount
    }

    /// Calls `visit` with each segment that waits.
    func visitSegments(_ visit: (Segment) -> Void) {
        for index in queue.indices { visit(queue[index]) }
    }

    /// Checks the invariants, in debug builds.
    ///
    /// It checks the sums only of a short queue, so that a debug build stays linear.
    @inline(__always)
    func invariants() {
        assert(updateByteCount >= 0 && controlByteCount >= 0, "negative bytes are queued")
        assert(
            turnActions.count >= 0 && turnActions.count <= inFlight.count
                && turnActions.byteCount <= inFlight.byteCount,
            "\(turnActions) of the turn are not among \(inFlight) in flight")
        assert(queue.count > 32 || sumsHold, "the sums of \(queue.count) segments are wrong")
        assert(
            !hasDroppedUpdates || queue.count > 32 || !hasQueuedUpdates,
            "updates are queued behind those that were dropped")
    }

    private var sumsHold: Bool {
        var (updates, control, actions) = (0, 0, turnActions)
        for index in queue.indices {
            let segment = queue[index]
            if segment.kind == .control { control += segment.cost } else { updates += segment.cost }
            actions += segment.actions
        }
        return updates == updateByteCount && control == controlByteCount && actions == inFlight
    }

    private var hasQueuedUpdates: Bool {
        for index in queue.indices where queue[index].kind == .update { return true }
        return false
    }
}
