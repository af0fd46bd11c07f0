import ReactorBytes
public import ReactorCore
import ReactorWire

/// Makes a tree, its sessions and its recent deltas again of what a journal kept.
///
///     let recovery = Recovery(of: tree, limits: limits)
///     while let part = try snapshot.next() { try recovery.restore(part) }
///     while let row = try journal.next() { try recovery.replay(row) }
///     let server = Server(try recovery.finish(epoch: epoch, sequence: sequence), …)
///
/// *Place*: before a ``Server`` is made; nothing is served, decided or begun. *Owner*: one thread.
public final class Recovery {
    /// Who may leave how much behind.
    public let limits: ServerLimits
    /// The highest number that a connection had.
    public private(set) var lastConnection: UInt64 = 0
    /// Transactions that were replayed.
    public private(set) var replayedCount: UInt64 = 0
    let nodes: TreeRecovery
    let sessions: SessionTable
    var ring: DeltaRing
    /// The epoch of what was replayed last.
    var epoch: UInt64?
    /// Whether the history goes on in the epoch that it was kept in.
    private(set) var goesOnInEpoch = false

    /// Recovers `tree`, which has just been made; what stood at or below a path of `dropped` may be
    /// missing from it.
    public init(of tree: Tree, limits: ServerLimits, dropped: [SlicePath] = []) {
        self.limits = limits
        nodes = TreeRecovery(of: tree, dropped: dropped)
        sessions = SessionTable(
            sessionsMax: limits.sessionsMax, perUIDMax: limits.sessionsPerUIDMax)
        ring = DeltaRing(bytesMax: limits.ringBytesMax, searchBytesMax: limits.resumeBytesMax)
    }

    /// Says that the tree takes the place of another one in the same process.
    public func succeed(_ former: Tree) { nodes.succeed(former) }

    /// The tree that is recovered.
    public var tree: Tree { nodes.tree }

    /// Whether the tree goes on from what is recovered, and does not only show it: then it must know
    /// what is planned and promised.
    public var goesOn = true

    /// Where reactors stand that the history does not have, once it is finished.
    public var newPaths: [SlicePath] { nodes.newcomers.map(\.path) }

    /// Where reactors stood that were given up.
    public var lostPaths: [SlicePath] { nodes.lostPaths }

    /// Whether states are taken as replaying makes them, though they were others once.
    public var acceptsDivergence = false

    /// Replays a turn.
    public func replay(_ row: HistoryRow) throws(RecoveryError) {
        if row.epoch != epoch {
            // because deltas of another history are none of this
            ring.removeAll()
            nodes.numberTasksAnew(epoch: row.epoch)
            epoch = row.epoch
        }
        let facts: [TurnFact]
        do throws(WireError) {
            facts = try TurnFact.list(row.facts.span)
        } catch {
            throw .damaged("what is beside sequence \(row.sequence) in the journal: \(error)")
        }
        // because deltas speak of nodes by the numbers of the daemon's start
        for fact in facts {
            switch fact {
            case .layout(let places):
                nodes.dropProbe()
                try nodes.place(places)
            case .made(let places): nodes.begin(places)
            default: break
            }
        }
        try nodes.replay(row.deltas.span)
        nodes.endRow()
        for fact in facts {
            switch fact {
            case .replaced(let saved): try nodes.restore(saved.span)
            case .probe(let probed): if !acceptsDivergence { nodes.probe(probed) }
            case .sums(let sums): try nodes.compare(sums)
            default: replay(fact, upTo: row.sequence)
            }
        }
        if row.sequence != row.after {
            ring.append(
                after: row.after, sequence: row.sequence, deltas: ByteSlice(row.deltas))
        }
        replayedCount += row.sequence - row.after
    }

    /// Replays what a turn did up to a sequence of its own, and no outcome of it: for who looks at
    /// the past, and does not go on from there.
    public func replay(_ row: HistoryRow, upTo sequence: UInt64) throws(RecoveryError) {
        var row = row
        var end = 0
        while let header = try? FrameHeader.decode(
            row.deltas.span, at: end, frameBytesMax: Int(UInt32.max)), header.number <= sequence
        { end += FrameHeader.byteCount + Int(header.length) }
        row.deltas.removeSubrange(min(end, row.deltas.count)...)
        row.sequence = max(row.after, min(row.sequence, sequence))
        try replay(row)
    }

    /// Takes note that a connection had this number.
    func noteConnection(_ connection: UInt64) { lastConnection = max(lastConnection, connection) }

    /// Hears a fact again, of a turn that went up to `sequence`.
    private func replay(_ fact: TurnFact, upTo sequence: UInt64) {
        switch fact {
        case .run(let by, let ordinal, let first, let count, _, _):
            noteConnection(by.connection)
            guard let session = sessions.find(client: by.client) else { return }
            session.redo(AppliedRun(ordinal: ordinal, sequence: first, count: count), limits)
            sessions.touch(session)
        case .action(let by, let ordinal, _, _), .refused(let by, let ordinal, _, _, _):
            noteConnection(by.connection)
            guard let session = sessions.find(client: by.client) else { return }
            session.redoArrival(of: ordinal)
            sessions.touch(session)
        case .outcome(let client, let ordinal, let outcome):
            sessions.find(client: client)?.redo(outcome, of: ordinal, limits)
        case .session(let client, let secret, let uid):
            sessions.restore(client: client, secret: secret, uid: uid)
        case .goodbye(let client), .evicted(let client):
            if let session = sessions.find(client: client) {
                sessions.end(session, at: sequence)
            }
        case .ownership(let fact): nodes.replay(fact)
        case .task(let fact): nodes.replay(fact)
        case .layout, .made, .replaced, .probe, .sums: break
        }
    }

    /// Makes what was recovered the state to go on from.
    ///
    /// `epoch` is another than the history's where that may have lost its end.
    public func finish(epoch: UInt64, sequence: UInt64) throws(RecoveryError) -> Recovery {
        goesOnInEpoch = epoch == self.epoch
        if !goesOnInEpoch {
            ring.removeAll()
            nodes.numberTasksAnew(epoch: epoch)
        }
        try nodes.finish(epoch: epoch, sequence: sequence)
        if goesOn { try nodes.checkTasks() }
        return self
    }
}
