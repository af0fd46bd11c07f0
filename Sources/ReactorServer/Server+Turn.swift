import DequeModule
import ReactorBytes
import ReactorCore
import ReactorWire

// MARK: - The end of a turn
extension Server {
    /// Closes the turn: shares out what it caused, and hands its batch to the journal.
    ///
    /// Call it once per pass of the loop, after everything that arrived was received.
    public func endTurn(at now: UInt64) {
        self.now = now
        shareOut()
        if isEpochWanted { beginEpoch() }
    }

    private func shareOut() {
        flushesLeft = Self.flushesPerTurnMax
        readRested()
        if isCrowded { makeRoomForSpeakers() }
        let turn = tree.turn
        if !turn.isQuiet {
            for text in turn.complaints { complain(text) }
            tellFailures()
            if turn.hasResolutions { resolve() }
        }
        if !endedActions.isEmpty { tellDone() }
        if questions.isActive { answerQuestions() }
        if keepsHistory {
            noteChanges()
            noteProbe()
        }
        // because what begins without a change is released with its turn as well
        let facts = takeFacts()
        guard
            turn.sequence != turnStart || !noted.isEmpty || !turn.effects.isEmpty
                || !facts.isEmpty
        else {
            turn.begin()
            advanceSnapshot()
            return release()
        }
        let batchEnd: Int
        let markFrame: Range<Int>
        if turn.isQuiet {
            batchEnd = turn.deltaByteCount
            markFrame = appendMark()
        } else {
            // because what a node did before it went concerns nobody who is told that it is gone
            shareGone()
            shareValues()
            batchEnd = turn.deltaByteCount
            markFrame = appendMark()
            shareChanges()
        }
        let deltas = turn.deltaBytes
        let batch = Batch(
            turn: turnNumber, epoch: turn.epoch, after: turnStart, sequence: turn.sequence,
            deltas: ByteSlice(deltas, range: 0..<batchEnd), facts: facts,
            isDurable: desk.value.takeDurable())
        for connection in noted { payOwed(connection) }
        let replies = takeReplies()
        let outcomes = finishOutcomes()
        for connection in noted {
            enqueue(connection, deltas: deltas, markFrame, replies: replies, outcomes: outcomes)
        }
        seal(batch)
    }

    /// Records the turn, starts the next, and lets go what may leave.
    private func seal(_ batch: Batch) {
        let turn = tree.turn
        let isChange = turn.sequence != turnStart
        var record = TurnRecord(
            number: turnNumber, isAppended: !isChange && batch.facts.isEmpty, connections: [],
            effects: turn.effects, byteCount: batch.deltas.range.count + batch.facts.count)
        record.connections = desk.value.takeNoted()
        let isKept = !record.isAppended
        record.isKept = isKept
        unreleased.append(record)
        if isChange {
            stats.turns &+= 1
            questions.grownBytes &+= UInt64(batch.deltas.range.count)
            ring.append(after: batch.after, sequence: batch.sequence, deltas: batch.deltas)
        }
        if isKept {
            outputs.append(.append(batch))
            lastKeptTurn = turnNumber
            unreleasedBytes += record.byteCount
            if unreleasedBytes > limits.unreleasedBytesMax { isCongested = true }
        }
        turnNumber += 1
        turnStart = turn.sequence
        turn.begin()
        // because what is let go may be answered at once, and the answer is of the next turn
        advanceSnapshot()
        release()
    }

    /// The journal holds the batch of turn `number`, and all before it.
    public func appended(_ number: UInt64, at now: UInt64) {
        self.now = now
        // because turns without a change stand between those with batches, in ascending order
        guard let oldest = unreleased.first, number >= oldest.number else { return }
        let index = Int(number - oldest.number)
        guard index < unreleased.count else { return }
        for earlier in 0...index { unreleased[earlier].isAppended = true }
        release()
    }

    private func release() {
        while unreleased.first?.isAppended ?? false {
            let record = unreleased.removeFirst()
            releasedTurn = record.number
            if record.isKept { unreleasedBytes -= record.byteCount }
            for connection in record.connections { flushOrList(connection, of: record.number) }
            if !record.effects.isEmpty { tree.start(record.effects) }
            keepSpare(record)
        }
        flushUpdates()
        endCongestion()
    }

    private func keepSpare(_ record: consuming TurnRecord) {
        guard desk.value.spare.capacity == 0 else { return }
        record.connections.removeAll(keepingCapacity: true)
        desk.value.spare = record.connections
    }

    private func tellFailures() {
        for failure in tree.turn.failures {
            guard let session = sessions.find(client: failure.origin.client),
                let connection = session.connection
            else { continue }
            let notice = Notice(
                code: failure.code, message: failure.message.cut(to: limits.messageBytesMax))
            send(notice, of: failure.origin.ordinal, to: connection)
        }
    }

    private func finishOutcomes() -> [UInt8] {
        for connection in noted { flushRun(of: connection) }
        let bytes = outcomes.bytes
        outcomes.removeAll(keepingAtMost: Self.turnBytesKeptMax)
        return bytes
    }

    private func takeReplies() -> [UInt8] {
        let bytes = replies.bytes
        replies.removeAll(keepingAtMost: Self.turnBytesKeptMax)
        return bytes
    }

    // because one answer of a hundred megabytes must not cost them for ever
    /// Most bytes of room that a turn's buffer keeps for the next turn.
    private static let turnBytesKeptMax = 1 << 20
}

// MARK: - Sharing out
extension Server {
    /// Appends the turn's mark behind its deltas, so that both are one piece for most subscribers.
    private func appendMark() -> Range<Int> {
        let start = tree.turn.deltaByteCount
        tree.turn.append(FrameHeader(kind: .mark, number: tree.turn.sequence))
        return start..<tree.turn.deltaByteCount
    }

    /// Gives each follower of a replica slice the places of its deltas.
    private func shareChanges() {
        let changes = tree.turn.changes
        var index = 0
        while index < changes.count {
            let node = changes[index].node
            let start = changes[index].start
            var end = changes[index].end
            index += 1
            while index < changes.count, changes[index].node === node,
                changes[index].start == end
            {
                end = changes[index].end
                index += 1
            }
            guard let slice = slices.replica(of: node.number) else { continue }
            for connection in slice.followers {
                if connection.isBehind,
                    connection.subscriptions[slice.id]?.isSnapshotOwed ?? true
                {
                    continue
                }
                connection.pending.deltas.append(start..<end)
                note(connection)
            }
        }
    }

    /// Tells the followers of removed nodes, and forgets the slices and the nodes.
    private func shareGone() {
        for node in tree.turn.removed {
            for place in openings.take(node) {
                connections[place.connection]?.nodes[place.index] = nil
            }
            for slice in slices.all(of: node.number) {
                for connection in slice.followers {
                    connection.subscriptions[slice.id] = nil
                    users.add(subscriptions: -1, of: connection.peer.uid)
                    reply(to: connection) { writer in
                        writer.header(
                            FrameHeader(
                                kind: .gone, id: slice.id, number: tree.turn.sequence))
                    }
                }
                for connection in slice.followers { slices.leave(slice, connection) }
            }
        }
    }

    /// Gives a connection that has caught up the snapshots it is owed.
    private func payOwed(_ connection: Connection) {
        guard canBePaid(connection) else { return }
        // because the slices of one that lags move together again only when all are there; new
        // ones may come one after the other
        var room = connection.isLagging ? Int.max : limits.queueBytesMax
        room -= connection.queuedUpdateBytes
        connection.isBehind = false
        for (id, subscription) in connection.subscriptions.sorted(by: { $0.key < $1.key })
        where subscription.isSnapshotOwed {
            guard room > 0 else {
                connection.isBehind = true
                return
            }
            let frames = snapshot(of: subscription.slice, isFresh: subscription.isFresh)
            room -= frames.count
            connection.pending.chunks.append((frames, true))
            connection.subscriptions[id]?.isSnapshotOwed = false
            connection.subscriptions[id]?.isFresh = false
        }
        connection.isLagging = false
        sayFarewell(to: connection)
    }

    /// Whether a connection waits for snapshots and has room for one.
    func canBePaid(_ connection: Connection) -> Bool {
        guard connection.isBehind, connection.stage == .open else { return false }
        return connection.isLagging
            ? connection.queuedUpdateBytes == 0 && !connection.isWriting
            : connection.queuedUpdateBytes < limits.queueBytesMax
    }
}
