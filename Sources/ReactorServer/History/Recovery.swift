package import ReactorBytes
package import ReactorCore
import ReactorWire

/// Restores a tree, its sessions and its recent deltas from a journal.
///
///     let recovery = Recovery(of: tree, limits: limits)
///     while let part = try snapshot.next() { try recovery.restore(part) }
///     while let row = try journal.next() { try recovery.replay(row) }
///     let server = Server(try recovery.finish(epoch: epoch, sequence: sequence), …)
///
/// *Place*: before a ``Server`` exists. No client is served, no reactor decides, no effect begins.
/// *Owner*: one thread.
package final class Recovery {
    /// The limits on sessions and recent deltas.
    package let limits: ServerLimits
    /// The highest number of any connection.
    package private(set) var lastConnection: UInt64 = 0
    /// Number of replayed transactions.
    package private(set) var replayedCount: UInt64 = 0
    /// The replayed rows that no checksum verifies.
    package private(set) var unverified = UnverifiedRows()
    /// The sequence up to which ``AnyNode/stateByteCount`` is that of each state; nil before the
    /// recovery is finished.
    private(set) var measuredSequence: UInt64?
    /// Bytes of the replayed deltas.
    private(set) var deltaByteCount = 0
    /// The sequence before the first replayed row.
    private var firstSequence: UInt64?
    let nodes: TreeRecovery
    let sessions: SessionTable
    let ring: DeltaRing
    /// The epoch of the last replayed row.
    private(set) var epoch: UInt64?
    private var isOnlyShown = false
    private var follows = false
    private var acceptsDivergence = false
    /// Whether the tree continues in the epoch of the history.
    private(set) var goesOnInEpoch = false

    /// Recovers `tree`, which must be new. Reactors at or below a path in `dropped` may be missing
    /// from it.
    package init(of tree: Tree, limits: ServerLimits, dropped: [SlicePath] = []) {
        self.limits = limits
        nodes = TreeRecovery(of: tree, dropped: dropped)
        sessions = SessionTable(
            sessionsMax: limits.sessionsMax, perUIDMax: limits.sessionsPerUIDMax)
        ring = DeltaRing(bytesMax: limits.ringBytesMax, searchBytesMax: limits.resumeBytesMax)
    }

    /// Takes over from another tree in the same process.
    package func succeed(_ former: Tree) { nodes.succeed(former) }

    /// The tree that is recovered.
    package var tree: Tree { nodes.tree }

    /// Recovers only for reading. The tree does not run on from there, so tasks that cannot be
    /// restored are ignored.
    package func showOnly() { isOnlyShown = true }

    /// Recovers for a server that follows another daemon, which numbers the nodes that the history
    /// lacks: see ``Server/follow(_:at:)``.
    package func prepareToFollow() { follows = true }

    /// Collects the differences between the history and today's reactors, instead of ending at the
    /// first. No daemon may serve the tree.
    package func beginSurvey() -> RecoverySurvey { nodes.beginSurvey() }

    /// Paths of reactors that the history does not have; valid once the recovery is finished.
    package var newPaths: [SlicePath] { nodes.newcomers.map(\.path) }

    /// Paths of reactors that were dropped.
    package var lostPaths: [SlicePath] { nodes.lostPaths }

    /// Accepts replayed states whose checksums differ from those in the journal.
    package func acceptDivergence() { acceptsDivergence = true }

    /// Restores a part of a snapshot. Parts come in the order in which they were gathered, before
    /// any row.
    package func restore(_ part: [UInt8]) throws(RecoveryError) {
        let bytes: Range<Int>?
        let found: SnapshotPart?
        do throws(WireError) {
            bytes = try SnapshotPart.nodes(in: part.span)
            found = try bytes == nil ? SnapshotPart(wireBytes: part.span) : nil
        } catch {
            throw .damaged("a part of the snapshot: \(error)")
        }
        if let bytes { try nodes.restore(part.span.extracting(bytes)) }
        if let found { try restore(found) }
    }

    private func restore(_ part: SnapshotPart) throws(RecoveryError) {
        switch part {
        case .schemas(let schemas): nodes.learn(schemas)
        case .nodes(let bytes): try nodes.restore(bytes.span)
        case .sessions(let saved):
            for session in saved { sessions.restore(session, limits) }
        case .ownership(let facts): for fact in facts { nodes.replay(fact) }
        case .tasks(let facts): for fact in facts { nodes.replay(fact) }
        case .ended(let ended, let forgottenUpTo):
            sessions.restore(ended, forgottenUpTo: forgottenUpTo)
        case .numbers(let connection, let client, let task, let epoch):
            record(connection: connection)
            sessions.skip(to: client)
            nodes.skipTasks(to: task)
            self.epoch = epoch
        }
    }

    /// Replays a turn.
    package func replay(_ batch: Batch) throws(RecoveryError) {
        for fact in try redo(batch) { replay(fact, upTo: batch.sequence) }
        if batch.sequence != batch.after {
            let deltas = batch.deltas.storage.span.extracting(batch.deltas.range)
            ring.keep(after: batch.after, sequence: batch.sequence, deltas: deltas)
        }
    }

    /// Replays what a turn changed in the tree. Returns the turn's facts; those about sessions are
    /// left to the caller.
    func redo(_ batch: Batch) throws(RecoveryError) -> [TurnFact] {
        if batch.epoch != epoch {
            // Deltas of another epoch are useless to clients of this one.
            ring.removeAll()
            nodes.renumberTasks(epoch: batch.epoch)
            epoch = batch.epoch
        }
        let facts: [TurnFact]
        do throws(WireError) {
            facts = try TurnFact.list(batch.facts.span)
        } catch {
            throw .damaged("the facts of sequence \(batch.sequence) in the journal: \(error)")
        }
        // Deltas name nodes by numbers that the row of the daemon's start assigns.
        for fact in facts {
            switch fact {
            case .schemas(let schemas): nodes.learn(schemas)
            case .layout(let records):
                nodes.dropProbe()
                unverified.dropProbe()
                try nodes.assign(records)
            case .made(let records): nodes.expect(records)
            default: break
            }
        }
        try nodes.replay(batch.deltas.storage.span.extracting(batch.deltas.range))
        nodes.endRow(at: batch.sequence)
        if firstSequence == nil { firstSequence = batch.after }
        deltaByteCount += batch.deltas.count
        unverified.add(batch)
        for fact in facts { try redo(fact) }
        replayedCount += batch.sequence - batch.after
        return facts
    }

    /// Replays a fact about nodes that refers to the end of its turn.
    private func redo(_ fact: TurnFact) throws(RecoveryError) {
        switch fact {
        case .replaced(let saved): try nodes.restore(saved.span)
        case .probe(let probed):
            if !acceptsDivergence { nodes.probe(probed) }
            unverified.probe()
        case .sums(let sums): if try nodes.compare(sums) { unverified.verify() }
        case .ownership(let fact): nodes.replay(fact)
        case .task(let fact): nodes.replay(fact)
        default: break
        }
    }

    /// Replays the first part of a turn, up to `sequence`, without outcomes: for queries about the
    /// past, after which no server continues.
    package func replay(_ batch: Batch, upTo sequence: UInt64) throws(RecoveryError) {
        let deltas = batch.deltas
        let bytes = deltas.storage.span.extracting(deltas.range)
        var end = 0
        while let header = try? FrameHeader.decode(
            bytes, at: end, frameBytesMax: Int(UInt32.max)), header.number <= sequence
        { end += FrameHeader.byteCount + Int(header.length) }
        let start = deltas.range.lowerBound
        let kept = ByteSlice(
            deltas.storage, range: start..<start + min(end, deltas.count))
        try replay(
            Batch(
                turn: batch.turn, epoch: batch.epoch, after: batch.after,
                sequence: max(batch.after, min(batch.sequence, sequence)), deltas: kept,
                facts: batch.facts))
    }

    /// Records that a connection had this number.
    private func record(connection number: UInt64) {
        lastConnection = max(lastConnection, number)
    }

    /// Replays a fact about sessions, of a turn that ends at `sequence`.
    func replay(_ fact: TurnFact, upTo sequence: UInt64) {
        switch fact {
        case .run(let by, let ordinal, let first, let count, _, _):
            record(connection: by.connection)
            guard let session = sessions.find(client: by.client) else { return }
            let run = AppliedRun(ordinal: ordinal, sequence: first, count: count)
            session.redoSource(ConnectionID(by.connection))
            session.redo(run, limits.outcomes)
            sessions.touch(session)
        case .action(let by, let ordinal, _, _), .refused(let by, let ordinal, _, _, _):
            record(connection: by.connection)
            guard let session = sessions.find(client: by.client) else { return }
            session.redoSource(ConnectionID(by.connection))
            session.redoArrival(of: ordinal)
            sessions.touch(session)
        case .outcome(let client, let ordinal, let outcome):
            sessions.find(client: client)?.redo(outcome, of: ordinal, limits.outcomes)
        case .session(let client, let secret, let uid):
            sessions.restore(client: client, secret: secret, uid: uid)
        case .goodbye(let client), .evicted(let client):
            if let session = sessions.find(client: client) {
                sessions.end(session, at: sequence)
            }
        // A restart ends effects, and the clients that wait for them ask again.
        case .notice, .done, .term, .stepDown: break
        case .schemas, .layout, .made, .replaced, .probe, .sums, .ownership, .task: break
        }
    }

    /// Completes the recovery.
    ///
    /// `epoch` differs from the history's epoch if the history may have lost its end.
    package func finish(epoch: UInt64, sequence: UInt64) throws(RecoveryError) -> Recovery {
        goesOnInEpoch = epoch == self.epoch
        if !goesOnInEpoch {
            ring.removeAll()
            nodes.renumberTasks(epoch: epoch)
        }
        try nodes.finish(epoch: epoch, sequence: sequence, follows: follows)
        measuredSequence = firstSequence ?? sequence
        if !isOnlyShown { try nodes.checkTasks() }
        return self
    }
}
