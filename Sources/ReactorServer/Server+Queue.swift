import DequeModule
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
        guard connection.stage != .closed else { return }
        var pending = connection.pending
        connection.pending = Connection.PendingOutput()
        for range in pending.replies { append(replies, range, .control, to: connection) }
        if overflows(connection, pending) {
            conflate(connection)
            pending.deltas = []
            pending.chunks = []
        }
        for chunk in pending.chunks {
            append(
                chunk.bytes, 0..<chunk.bytes.count, chunk.isSnapshot ? .snapshot : .update,
                to: connection)
        }
        let isMarked =
            pending.hasUpdates
            || !connection.subscriptions.isEmpty && !connection.isBehind
                && connection.markedSequence < tree.turn.sequence
        if isMarked {
            pending.deltas.appendJoined(markFrame)
            connection.markedSequence = tree.turn.sequence
        }
        for range in pending.deltas { append(deltas, range, .update, to: connection) }
        for range in pending.outcomes { append(outcomes, range, .control, to: connection) }
        if connection.isInputEnded, connection.session?.deferred.isEmpty ?? true {
            connection.isClosing = true
        }
        gateReading(connection)
    }

    private func overflows(
        _ connection: Connection, _ pending: Connection.PendingOutput
    ) -> Bool {
        guard !pending.deltas.isEmpty || pending.chunks.contains(where: { !$0.isSnapshot }) else {
            return false
        }
        let deltaBytes = pending.deltas.reduce(0) { $0 + $1.count }
        let chunkBytes = pending.chunks.reduce(0) { $0 + ($1.isSnapshot ? 0 : $1.bytes.count) }
        // because a turn may be larger than the budget: what finds an empty queue may go
        return connection.queuedUpdateBytes > 0
            && connection.queuedUpdateBytes + deltaBytes + chunkBytes > limits.queueBytesMax
    }

    /// Drops a slow reader's queued updates; it gets one snapshot of each slice instead, once it
    /// has taken what it was handed.
    private func conflate(_ connection: Connection) {
        stats.conflations &+= 1
        connection.queue.removeAll { $0.kind == .update }
        connection.queuedUpdateBytes = connection.queue.reduce(0) {
            $0 + ($1.kind == .snapshot ? $1.range.count : 0)
        }
        // because outcomes that stay in the queue have lost the updates in front of them
        connection.queue.prepend(
            Connection.Segment(
                bytes: Self.lagFrame, range: 0..<Self.lagFrame.count, turn: releasedTurn,
                kind: .control))
        connection.queuedControlBytes += Self.lagFrame.count
        connection.isBehind = true
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
        connection.queue.append(
            Connection.Segment(bytes: bytes, range: range, turn: turnNumber, kind: kind))
        if kind == .control {
            connection.queuedControlBytes += range.count
        } else {
            connection.queuedUpdateBytes += range.count
        }
    }

    /// Stops reading from a client that does not take its outcomes, and goes on when it does.
    private func gateReading(_ connection: Connection) {
        let isFull = connection.queuedControlBytes > limits.undrainedBytesMax
        if isFull, !connection.isReadingPaused {
            connection.isReadingPaused = true
            outputs.append(.pauseReading(connection.id))
        } else if connection.isReadingPaused,
            connection.queuedControlBytes * 2 <= limits.undrainedBytesMax
        {
            connection.isReadingPaused = false
            outputs.append(.resumeReading(connection.id))
        }
    }

    /// Hands the socket what may leave, as one write at a time.
    func flush(_ connection: Connection) {
        guard !connection.isWriting, connection.stage != .closed else { return }
        var slices: [OutputSlice] = []
        var byteCount = 0
        while let segment = connection.queue.first, segment.turn <= releasedTurn,
            byteCount < limits.writeBytesMax, slices.count < 64
        {
            connection.queue.removeFirst()
            byteCount += segment.range.count
            if segment.kind == .control {
                connection.queuedControlBytes -= segment.range.count
            } else {
                connection.queuedUpdateBytes -= segment.range.count
            }
            slices.append(OutputSlice(bytes: segment.bytes, range: segment.range))
        }
        guard slices.isEmpty else {
            connection.isWriting = true
            outputs.append(.write(connection.id, slices))
            return
        }
        if connection.isClosing, connection.queue.isEmpty {
            connection.stage = closedStage(connection)
            outputs.append(.close(connection.id))
        }
    }

    private func closedStage(_ connection: Connection) -> Connection.Stage {
        if connection.stage == .greeting { greetingCount -= 1 }
        return .closed
    }

    /// The socket took all of the last write.
    public func written(_ id: ConnectionID) {
        guard let connection = connections[id] else { return }
        connection.isWriting = false
        gateReading(connection)
        flush(connection)
        // because what it is owed is shown as of the end of a turn, never of the middle of one
        if connection.isBehind, connection.queuedUpdateBytes == 0, !connection.isWriting {
            note(connection)
        }
    }
}
