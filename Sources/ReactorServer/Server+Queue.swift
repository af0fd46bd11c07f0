import DequeModule
import ReactorBytes
import ReactorCore
import ReactorWire

// MARK: - Queues
extension Server {
    /// Puts what the turn has for a connection into its queue: replies, updates, the mark, then
    /// outcomes, so that an action's outcome never overtakes what it caused.
    func enqueue(
        _ connection: Connection, deltas: [UInt8], _ markFrame: Range<Int>, replies: [UInt8],
        outcomes: [UInt8]
    ) {
        var pending = connection.pending
        connection.pending = Connection.PendingOutput()
        guard connection.stage != .closed else { return }
        pending.replies.visit { append(replies, $0, .control, to: connection) }
        // because one that is closed is told of one more turn, and its mark is the last
        if !connection.isClosing, overflows(connection, pending) {
            conflate(connection)
            pending.deltas = RangeList()
            pending.chunks.removeAll { !$0.isSnapshot }
        }
        for chunk in pending.chunks {
            append(
                chunk.bytes, 0..<chunk.bytes.count, chunk.isSnapshot ? .snapshot : .update,
                to: connection)
        }
        if isMarkDue(connection, pending) {
            pending.deltas.append(markFrame)
            connection.markedSequence = tree.turn.sequence
        }
        pending.deltas.visit { append(deltas, $0, .update, to: connection) }
        pending.outcomes.visit { append(outcomes, $0, .control, to: connection) }
        if !pending.outcomes.isEmpty || !pending.replies.isEmpty || connection.isClosing
            || connection.isInputEnded
        {
            connection.urgentTurn = turnNumber
        }
        settleActions(connection, hasOutcomes: !pending.outcomes.isEmpty)
        // because it is still owed what its actions of this turn have caused
        if connection.isClosing, !connection.isBehind { leaveSlices(connection) }
        if connection.isInputEnded, connection.isAnswered { connection.isClosing = true }
        if connection.queuedControlBytes > limits.undrainedBytesMax { pauseReading(connection) }
    }

    /// Whether a connection is told how far everything has come.
    private func isMarkDue(
        _ connection: Connection, _ pending: Connection.PendingOutput
    ) -> Bool {
        if connection.isLagging { return false }
        if pending.hasUpdates { return true }
        // because what was announced is as of it, though nothing may have changed since the last
        if pending.isMarkAnnounced, !connection.subscriptions.isEmpty { return true }
        // because marks alone must not fill the queue of one that never reads; an outcome comes after
        // the mark of its turn all the same
        return !connection.subscriptions.isEmpty
            && connection.markedSequence < tree.turn.sequence
            && (connection.queuedUpdateBytes <= limits.queueBytesMax
                || !pending.outcomes.isEmpty)
    }

    /// Lets the turn's actions count as in flight until the last of their outcomes leaves.
    private func settleActions(_ connection: Connection, hasOutcomes: Bool) {
        guard connection.turnActions > 0 else { return }
        if hasOutcomes {
            let last = connection.queue.count - 1
            connection.queue[last].actions = connection.turnActions
            connection.queue[last].actionBytes = connection.turnActionBytes
        } else {
            connection.inFlight -= connection.turnActions
            connection.inFlightBytes -= connection.turnActionBytes
        }
        connection.turnActions = 0
        connection.turnActionBytes = 0
    }

    private func overflows(
        _ connection: Connection, _ pending: Connection.PendingOutput
    ) -> Bool {
        guard connection.queuedUpdateBytes > 0, pending.hasUpdates else { return false }
        let deltaBytes = pending.deltas.byteCount + 64 * pending.deltas.count
        let chunkBytes = pending.chunks.reduce(0) { $0 + ($1.isSnapshot ? 0 : $1.bytes.count + 64) }
        // because a turn may be larger than the budget: what finds an empty queue may go
        func isOver() -> Bool {
            deltaBytes + chunkBytes > 0 && connection.queuedUpdateBytes > 0
                && connection.queuedUpdateBytes + deltaBytes + chunkBytes > limits.queueBytesMax
        }
        // because one that only waits for its place in the line is no slow reader; and where nothing
        // of it is released yet, a flush would read on, in the middle of sharing out
        if isOver(), connection.isListed,
            connection.queue.first.map({ $0.turn <= releasedTurn }) ?? false
        {
            flush(connection)
        }
        return isOver()
    }

    /// Drops a slow reader's queued updates; it gets one snapshot of each slice instead, once it
    /// has taken what it was handed.
    private func conflate(_ connection: Connection) {
        stats.conflations &+= 1
        connection.queue.removeAll { $0.kind == .update }
        connection.queuedUpdateBytes = connection.queue.reduce(0) {
            $0 + ($1.kind == .snapshot ? $1.cost : 0)
        }
        // because outcomes that stay in the queue have lost the updates in front of them
        let lag = Connection.Segment(
            bytes: Self.lagFrame, range: 0..<Self.lagFrame.count, turn: releasedTurn,
            kind: .control)
        connection.queue.prepend(lag)
        connection.queuedControlBytes += lag.cost
        connection.isBehind = true
        connection.isLagging = true
        for id in connection.subscriptions.keys {
            connection.subscriptions[id]?.isSnapshotOwed = true
        }
    }

    private static let lagFrame: [UInt8] = {
        var writer = WireWriter()
        writer.header(FrameHeader(kind: .lag))
        return writer.bytes
    }()

    private func append(
        _ bytes: [UInt8], _ range: Range<Int>, _ kind: Connection.Segment.Kind,
        to connection: Connection
    ) {
        var segment = Connection.Segment(bytes: bytes, range: range, turn: turnNumber, kind: kind)
        // because who has to wait must not keep alive a turn's bytes for the sake of its few of them
        if connection.isWriting || connection.isListed || unflushed.count >= Self.flushesPerTurnMax,
            bytes.count > 4 * range.count + 4_096
        {
            segment.bytes = Array(bytes[range])
            segment.range = 0..<range.count
        }
        connection.queue.append(segment)
        if kind == .control {
            connection.queuedControlBytes += segment.cost
        } else {
            connection.queuedUpdateBytes += segment.cost
        }
    }

    /// Stops reading from a client that does not take its outcomes.
    func pauseReading(_ connection: Connection) {
        guard !connection.isReadingPaused, !connection.isClosing else { return }
        connection.isReadingPaused = true
        outputs.append(.pauseReading(connection.id))
    }

    /// Counts the bytes of actions in flight; stops reading from a client that has too many of them,
    /// and from whoever sends more while too much waits for the journal.
    func countActionBytes(_ byteCount: Int, of connection: Connection) {
        connection.turnActionBytes &+= byteCount
        connection.inFlightBytes &+= byteCount
        guard connection.inFlightBytes > limits.inFlightBytesMax || isCongested else { return }
        // because it goes on with the end of a turn that has something for it, be it nothing
        note(connection)
        pauseReading(connection)
    }

    /// Reads from no client that sends actions, until it is called with false: what keeps history
    /// has fallen behind. What was received is carried out.
    public func holdBack(_ isHeldBack: Bool) {
        guard isHeldBack != self.isHeldBack else { return }
        self.isHeldBack = isHeldBack
        if isHeldBack { isCongested = true } else { endCongestion() }
    }

    /// Goes on reading from everybody once the journal has caught up.
    func endCongestion() {
        guard isCongested, !isHeldBack, unreleasedBytes <= limits.unreleasedBytesMax / 2 else {
            return
        }
        isCongested = false
        for connection in connections.values.sorted(by: { $0.id.rawValue < $1.id.rawValue }) {
            resumeReading(connection)
        }
    }

    /// Goes on reading from a client that took them; never called while a turn is shared out.
    func resumeReading(_ connection: Connection) {
        guard connection.isReadingPaused, !connection.isClosing, !connection.isSpent,
            connection.queuedControlBytes + connection.pending.controlBytes
                <= limits.undrainedBytesMax / 2,
            connection.streams.isEmpty,
            connection.questions.count <= limits.questionsPerConnectionMax / 2,
            connection.inFlight <= limits.inFlightMax / 2,
            connection.inFlightBytes <= limits.inFlightBytesMax / 2, !isCongested
        else { return }
        connection.isReadingPaused = false
        outputs.append(.resumeReading(connection.id))
        readOn(connection)
    }

    /// Hands the socket what is urgent, and lists who waits for updates alone.
    ///
    /// Whoever dispatched goes on at once, however many watch: the next turn's updates then join
    /// those that wait, and leave with them in one write.
    func flushOrList(_ connection: Connection, of turn: UInt64) {
        if connection.urgentTurn >= turn || connection.queuedUpdateBytes > Self.patientBytesMax {
            flush(connection)
        } else if !connection.isListed {
            connection.isListed = true
            unflushed.append(connection)
        }
    }

    /// Hands some of those who wait for updates what they are owed, the first come first.
    func flushUpdates() {
        while flushesLeft > 0, let connection = unflushed.popFirst() {
            connection.isListed = false
            flush(connection)
            flushesLeft -= 1
        }
    }

    /// Connections that get their updates in one turn, beside those with something urgent.
    static let flushesPerTurnMax = 8
    /// Bytes of updates above which a connection does not wait for its turn.
    static let patientBytesMax = 64 << 10

    /// Hands the socket what may leave, as one write at a time.
    func flush(_ connection: Connection) {
        guard !connection.isWriting, connection.stage != .closed else { return }
        var slices = ByteSlices()
        var byteCount = 0
        while let segment = connection.queue.first, segment.turn <= releasedTurn,
            byteCount < limits.writeBytesMax, slices.count < 64
        {
            connection.queue.removeFirst()
            byteCount += segment.range.count
            connection.inFlight -= segment.actions
            connection.inFlightBytes -= segment.actionBytes
            if segment.kind == .control {
                connection.queuedControlBytes -= segment.cost
            } else {
                connection.queuedUpdateBytes -= segment.cost
            }
            slices.append(ByteSlice(segment.bytes, range: segment.range))
        }
        if !connection.streams.isEmpty {
            // because a connection with many updates gets its answers as well
            let room = max(limits.writeBytesMax - byteCount, WireWriter.partBytesMax)
            let parts = takeParts(of: connection, bytesMax: room)
            if !parts.isEmpty { slices.append(ByteSlice(parts)) }
        }
        guard slices.isEmpty else {
            connection.isWriting = true
            outputs.append(.write(connection.id, slices))
            return
        }
        // because the turn at hand may still have something for it
        if connection.isClosing, connection.queue.isEmpty, connection.notedTurn != turnNumber,
            !connection.isBehind, connection.questions.isEmpty
        {
            return shut(connection)
        }
        resumeReading(connection)
    }

    /// Orders the socket of a connection to be closed.
    func shut(_ connection: Connection) {
        connection.stage = .closed
        outputs.append(.close(connection.id))
    }

    /// The socket took all of the last write.
    public func written(_ id: ConnectionID, at now: UInt64) {
        self.now = now
        guard let connection = desk.value.connections[id] else { return }
        connection.isWriting = false
        flush(connection)
        resumeReading(connection)
        // because what it is owed is shown as of the end of a turn, never of the middle of one
        if canBePaid(connection) { note(connection) }
    }
}

extension Connection {
    /// Whether everything that arrived was answered.
    fileprivate var isAnswered: Bool {
        !isReadingPaused && !(session?.isOwed ?? false) && inquiryCount == 0
            && parkedCount == 0 && questions.isEmpty && !isBehind
    }
}
