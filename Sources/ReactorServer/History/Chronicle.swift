import ReactorBytes
import ReactorCore
import ReactorWire

/// Records a turn's facts for the journal, besides the deltas: sessions, actions and their
/// outcomes, probes of states, the epoch, and snapshots.
///
///     chronicle.record(run: run, nodes, frames, session, caller)
///     chronicle.record(outcome, of: ordinal, session)
///     let batch = chronicle.seal(turn: 7, deltas)      // at the end of the turn
///
/// A server without a journal records nothing. While the disk is full, ``admission`` is `full`:
/// facts that end sessions are kept here until they can be written. While it is `shrinking` or `limited`,
/// refusals for lack of space are written once there is room again.
///
/// *Place*: the parts of the server record facts here; ``Server/endTurn(at:)`` takes the batch.
/// ``invariants()`` states the invariants.
final class Chronicle {
    /// Whether there is a journal that keeps history.
    let keepsHistory: Bool
    private let tree: Tree
    private let sessions: SessionTable
    private let orders: ShellOrders
    /// Maximum bytes of a refused action that is recorded whole.
    private var refusedBytesMax: Int
    /// Which actions may run.
    private(set) var admission = Admission.all
    /// The turn's ``TurnFact``s.
    private let facts = Cell(WireWriter())
    /// Facts that ended sessions while nothing could be written.
    private var unwritten: [TurnFact] = []
    /// Whether an action of the turn requires that its batch survives a power cut.
    private var isDurable = false
    /// Sequence before the turn's first transaction.
    private(set) var turnStart: UInt64
    private let probes: Cell<TurnProbes>
    private var epoch: EpochState
    /// The highest number of any connection; later connections get higher ones.
    private(set) var highestConnection: UInt64
    /// Whether a snapshot begins when the turn ends.
    private var isSnapshotWanted = false
    /// The snapshot that is being gathered.
    private(set) var snapshot: ServerSnapshot?

    /// Whether clients of earlier runs may contradict the tree's epoch.
    private enum EpochState {
        /// It began in this run of the daemon, so every client learned its revisions from this run.
        case own
        /// Clients of earlier runs may know its revisions.
        case inherited
        /// A client has a revision that the history lacks: another epoch begins after the turn.
        case contradicted
    }

    /// Maximum bytes of memory for facts that are kept for the next turn.
    private static let factBytesKeptMax = 1 << 20

    /// Continues from `recovery`.
    init(_ recovery: Recovery, keepsHistory: Bool, _ limits: ServerLimits, _ orders: ShellOrders) {
        self.keepsHistory = keepsHistory
        self.orders = orders
        tree = recovery.tree
        sessions = recovery.sessions
        refusedBytesMax = limits.refusedBytesMax
        epoch = keepsHistory && recovery.goesOnInEpoch ? .inherited : .own
        highestConnection = recovery.lastConnection
        turnStart = recovery.tree.turn.sequence
        probes = Cell(TurnProbes(recovery, keepsHistory: keepsHistory))
        if keepsHistory, turnStart > 0, epoch == .own { orders.stats.epochChanges = 1 }
    }

    /// Applies other limits from here on.
    func setLimits(_ limits: ServerLimits) { refusedBytesMax = limits.refusedBytesMax }

    /// True while every action is refused: the journal cannot write, or another daemon leads.
    var isReadOnly: Bool { admission.mode != .leading }

    /// Whether another daemon leads, and this one follows it.
    var isFollowing: Bool { admission == .following || admission == .cut }

    /// Whether the turn has a transaction.
    var hasChanges: Bool { tree.turn.sequence != turnStart }

    /// Bytes of the turn's deltas and facts so far.
    var turnByteCount: Int { tree.turn.deltaByteCount + facts.value.count }

    /// Records that a connection has this number.
    func record(connection id: ConnectionID) {
        highestConnection = max(highestConnection, id.rawValue)
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(keepsHistory || facts.value.count == 0, "facts are recorded that no journal keeps")
        assert(keepsHistory || !isDurable, "a turn without a journal is durable")
        assert(admission == .full || unwritten.isEmpty, "facts are kept that can be written")
        assert(turnStart <= tree.turn.sequence, "the turn began at a later sequence than it has")
    }
}

// MARK: - A full disk
extension Chronicle {
    /// Refuses every action, from the first turn on.
    func beginReadOnly() { admission = .full }

    /// Refuses every action, as another daemon leads; with `isCut`, this one cannot reach that. No
    /// client can contradict the epoch: the leading daemon has all that any client knows.
    func beginFollowing(isCut: Bool = false) {
        (admission, epoch) = (isCut ? .cut : .following, .own)
    }

    /// Prepares for the end of ``beginFollowing()``: the first probe sums what the rows applied so
    /// far leave unverified.
    func endFollowing(_ recovery: Recovery) {
        probes.value = TurnProbes(recovery, keepsHistory: keepsHistory)
    }

    /// Admits actions again after ``beginReadOnly()``, and begins the journal of this run with the
    /// numbers of the tree's nodes.
    func goOn(_ admission: Admission) {
        precondition(isReadOnly, "a server that admits actions cannot resume")
        precondition(admission.mode == .leading, "a server cannot resume without actions")
        self.admission = admission
        recordLayout()
        recordUnwritten()
    }

    /// Admits only actions that make the tree smaller, as the data directory has its maximum size.
    func limitGrowth() {
        precondition(!isReadOnly, "a read-only server admits no action")
        admission = .limited
    }

    /// Admits every action again.
    func admitAll() {
        precondition(!isReadOnly, "a read-only server cannot admit every action")
        admission = .all
        recordUnwritten()
    }

    /// Records the numbers of the tree's nodes, and the form of their values.
    private func recordLayout() {
        guard keepsHistory else { return }
        record(tree.takeSchemas())
        record(.layout(tree.takeLayout()))
    }

    private func record(_ schemas: [KeptSchema]) {
        if !schemas.isEmpty { record(.schemas(schemas)) }
    }

    /// Records the sessions that ended while the journal could not write and, once there is room
    /// for everything, the refusals for lack of space.
    private func recordUnwritten() {
        let facts = unwritten
        unwritten = []
        for fact in facts { record(fact) }
        if admission == .all {
            for session in sessions.all { recordRefusals(of: session) }
        }
        invariants()
    }

    /// Records a session's refusals for lack of space. A client may learn the outcome of a later
    /// action before it asks for theirs, so they come first.
    private func recordRefusals(of session: Session) {
        guard let first = session.takeUnkept() else { return }
        for (ordinal, outcome) in session.allExceptions
        where ordinal >= first && outcome.isForLackOfSpace {
            recordFirstAction(of: session)
            record(.outcome(client: session.client, ordinal: ordinal, is: outcome))
        }
    }

    /// Whether an action is refused for lack of space, and therefore not recorded: a client that
    /// repeats it would fill the reserve with actions that change nothing.
    private func isUnkept(_ result: DispatchResult) -> Bool {
        guard admission.isShrinking, case .failed(.rejected(let rejection)) = result else {
            return false
        }
        return rejection.code == FaultCode.diskFull.rawValue
    }
}

// MARK: - Facts of the turn
extension Chronicle {
    /// Records a fact of the turn, if there is a journal.
    func record(_ fact: @autoclosure () -> TurnFact) {
        guard keepsHistory else { return }
        if isReadOnly { return keep(fact()) }
        fact().encode(into: &facts.value)
    }

    /// Keeps a fact that ended a session while the journal cannot write. A snapshot that lacks a
    /// session of the journal would contradict the history. The journal gets no new sessions in
    /// this time, so the number of facts is bounded.
    private func keep(_ fact: TurnFact) {
        guard admission == .full else { return }
        switch fact {
        case .goodbye, .evicted: unwritten.append(fact)
        default: break
        }
    }

    /// Records that a session has its first action, unless that was recorded.
    private func recordFirstAction(of session: Session) {
        guard keepsHistory, !isReadOnly, !session.isStored else { return }
        session.markStored()
        record(.session(client: session.client, secret: session.secret, uid: session.uid))
    }

    /// Records a run of plain actions; `frames` are their frames as they arrived.
    func record(
        run: AppliedRun, _ nodes: [NodeAlias], _ frames: Span<UInt8>, _ session: Session,
        _ caller: Caller
    ) {
        guard keepsHistory, run.count > 0 else { return }
        recordFirstAction(of: session)
        var bytes: [UInt8] = []
        bytes.append(contentsOf: frames, 0..<frames.count)
        record(
            .run(
                by: ActionSource(caller), ordinal: run.ordinal, sequence: run.sequence,
                count: run.count, nodes: nodes, frames: bytes))
    }

    /// Records that an action arrived, before its outcome.
    func record(
        arrival header: FrameHeader, _ body: Span<UInt8>, _ nodes: [NodeAlias],
        _ result: DispatchResult, _ session: Session, _ caller: Caller
    ) {
        guard keepsHistory, !isReadOnly, !isUnkept(result) else { return }
        var writer = WireWriter()
        writer.header(header)
        writer.raw(body)
        record(arrivalOf: header.number, nodes[...], writer.bytes, result, session, caller)
    }

    /// Records that an action arrived, in a separate frame.
    func record(
        arrivalOf ordinal: UInt64, _ nodes: ArraySlice<NodeAlias>, _ frame: Span<UInt8>,
        _ result: DispatchResult, _ session: Session, _ caller: Caller
    ) {
        guard keepsHistory else { return }
        var bytes: [UInt8] = []
        bytes.append(contentsOf: frame, 0..<frame.count)
        record(arrivalOf: ordinal, nodes, bytes, result, session, caller)
    }

    private func record(
        arrivalOf ordinal: UInt64, _ nodes: ArraySlice<NodeAlias>, _ frame: [UInt8],
        _ result: DispatchResult, _ session: Session, _ caller: Caller
    ) {
        recordFirstAction(of: session)
        recordRefusals(of: session)
        let source = ActionSource(caller)
        // An action that changed nothing must not fill the disk.
        if case .failed = result, frame.count > refusedBytesMax {
            record(
                .refused(
                    by: source, ordinal: ordinal, nodes: Array(nodes),
                    byteCount: UInt64(frame.count), checksum: WireChecksum(of: frame.span).value))
        } else {
            record(.action(by: source, ordinal: ordinal, nodes: Array(nodes), frame: frame))
        }
    }

    /// Records the outcome of an action.
    func record(_ outcome: Outcome, of ordinal: UInt64, _ session: Session) {
        if keepsHistory, admission != .all, outcome.isForLackOfSpace {
            session.markUnkept(ordinal)
            return
        }
        guard session.isStored else { return }
        record(.outcome(client: session.client, ordinal: ordinal, is: outcome))
    }

    /// Records that sessions were evicted.
    func record(evicted: [Session]) {
        for session in evicted { record(.evicted(client: session.client)) }
    }

    /// Requires that the turn's batch survives a power cut.
    func requireDurability() {
        precondition(keepsHistory, "nothing survives a power cut without a journal")
        isDurable = true
    }
}

// MARK: - The end of a turn
extension Chronicle {
    /// Records the turn's facts besides its deltas, and begins a probe of states if one is due.
    func recordTurn() {
        guard keepsHistory else { return }
        for fact in tree.turn.facts {
            switch fact {
            case .ownership(let fact): record(.ownership(fact))
            case .task(let fact): record(.task(fact))
            case .made(let nodes):
                // Schemas that are taken and not written would be missing for the rest of the run.
                if !isReadOnly { record(tree.takeSchemas(of: nodes)) }
                record(.made(nodes))
            }
        }
        recordProbe()
        invariants()
    }

    /// Whether the turn has a fact.
    var hasFacts: Bool { facts.value.count > 0 }

    /// Whether the turn has changes or facts that are in no batch.
    var isUnsealed: Bool { hasChanges || hasFacts }

    /// Takes the turn's batch; `deltas` are the deltas for the journal.
    func makeBatch(of turn: UInt64, _ deltas: ByteSlice) -> Batch {
        Batch(
            turn: turn, epoch: tree.turn.epoch, after: turnStart, sequence: tree.turn.sequence,
            deltas: deltas, facts: takeFacts(), isDurable: isDurable)
    }

    private func takeFacts() -> [UInt8] {
        guard hasFacts else { return [] }
        let bytes = facts.value.bytes
        facts.value.removeAll(keepingAtMost: Self.factBytesKeptMax)
        return bytes
    }

    /// Begins the next turn, after the tree's last transaction.
    func beginTurn() {
        turnStart = tree.turn.sequence
        isDurable = false
        invariants()
    }

    /// Probes changed states if a probe is due, and records the sums of the last probe.
    private func recordProbe() {
        guard !isReadOnly else { return }
        if hasChanges {
            probes.value.collect(behind: turnByteCount, at: orders.now)
        } else if !probes.value.isRowDue {
            return
        }
        if let sums = probes.value.takeSums() { record(.sums(sums)) }
        if let probe = probes.value.take(at: orders.now) {
            record(.probe(probe.nodes))
            orders.append(.sum(probe))
        }
        probes.value.endTurn()
    }

    /// Whether the next turn gets a row for a probe or its sums, also without a change.
    var isProbeDue: Bool { probes.value.isRowDue }

    /// Passes the time, once a second.
    func tick() { if keepsHistory, !isReadOnly { probes.value.tick(at: orders.now) } }

    /// Records the checksums of the last probe, which read `byteCount` bytes.
    func summed(_ sums: [UInt64], byteCount: Int) {
        probes.value.finish(sums, byteCount: byteCount)
    }

    /// The batch of turn `turn` with a probe and its sums, for a server that runs no further action.
    /// Returns nil if every change has recorded sums, or changes are in no batch.
    func makeLastProbe(of turn: UInt64) -> Batch? {
        guard keepsHistory, !isReadOnly, !isUnsealed else { return nil }
        if let sums = probes.value.takeSums() { record(.sums(sums)) }
        if let probe = probes.value.takeLast() {
            record(.probe(probe.nodes))
            record(.sums(probe.sums().values))
        }
        return hasFacts ? makeBatch(of: turn, ByteSlice([])) : nil
    }
}

// MARK: - A history that has lost its end
extension Chronicle {
    /// Records that a client has a later revision of the epoch than the history, so that another
    /// epoch begins after the turn.
    ///
    /// A client learns a revision only after its commit. If it has a later revision than this run
    /// has committed, it learned that from an earlier run. So only an inherited epoch can be
    /// contradicted, and a client that lies costs at most one new epoch per run of the daemon.
    private func contradict(_ peer: Peer, _ claim: @autoclosure () -> String) {
        guard epoch != .own else { return }
        orders.stats.historyContradicted &+= 1
        guard epoch == .inherited else { return }
        epoch = .contradicted
        orders.append(.log(.contradicted(peer, claim())))
    }

    /// Compares a subscriber's revision with the history: a later one contradicts it.
    func compare(_ from: Revision?, of peer: Peer) {
        guard let from, isAhead(from) else { return }
        contradict(
            peer, "a subscriber comes back from \(from), the history ends at \(tree.revision)")
    }

    /// Whether a revision is of this epoch and later than the tree's.
    func isAhead(_ revision: Revision) -> Bool {
        revision.epoch == tree.turn.epoch && revision.sequence > tree.turn.sequence
    }

    /// Compares a client's hello with the history. It contradicts the history if the client has the
    /// outcome of an action that its session has not received, if its session is of a later
    /// revision, or if its session is neither known nor ended.
    ///
    /// Other outcomes prove nothing: an action that is refused on a full disk is not recorded.
    func compare(_ hello: Hello, of peer: Peer) {
        guard let secret = hello.session, hello.epoch ?? tree.turn.epoch == tree.turn.epoch else {
            return
        }
        if let session = sessions.find(secret, uid: peer.uid), hello.applied > session.ordinal {
            contradict(
                peer,
                "the action \(hello.applied) of client \(session.client) was applied, the history "
                    + "holds its actions up to \(session.ordinal)")
        } else if let epoch = hello.epoch, let since = hello.since,
            isAhead(Revision(epoch: epoch, sequence: since))
        {
            contradict(
                peer, "a session began at sequence \(since), the history ends at \(tree.revision)")
        } else if hello.epoch != nil, hello.applied > 0, !sessions.isKnown(secret),
            !sessions.ended.mayHold(secret, since: hello.since)
        {
            contradict(
                peer,
                "the action \(hello.applied) of a session was applied, and the history has no such "
                    + "session")
        }
    }

    /// Begins another epoch if this one was contradicted, and closes every connection. Returns
    /// whether it did.
    ///
    /// The shell then ends another turn, whose batch stores the epoch in the journal. No client
    /// gets a welcome of the epoch before that. A snapshot is of one epoch, so one in progress is
    /// completed first.
    func beginEpochIfContradicted(_ random: () -> UInt64) -> Bool {
        guard epoch == .contradicted, !isReadOnly, snapshot?.isEnded ?? true else { return false }
        epoch = .own
        tree.beginEpoch(random())
        orders.stats.epochChanges &+= 1
        recordLayout()
        orders.append(.cutConnections)
        return true
    }

    /// Takes over the epoch's state from a former server of the same process: no client of an
    /// earlier run knows an epoch that this process began.
    func succeed(_ former: Chronicle) {
        if former.epoch == .own { epoch = .own }
    }
}

// MARK: - Snapshots
extension Chronicle {
    /// Requests a snapshot; it begins at the end of the turn, as an order after its batch.
    func wantSnapshot() { isSnapshotWanted = true }

    /// Whether the end of the turn begins a snapshot.
    var isSnapshotDue: Bool {
        // A snapshot waits for the one before it.
        isSnapshotWanted && snapshot?.isEnded ?? true
    }

    /// Records that a turn has ended and no action of the next one has run; `lastTurn` is the last
    /// one with a row of the history. Returns whether a snapshot begins.
    @discardableResult
    func advanceSnapshot(_ lastTurn: UInt64) -> Bool {
        if let snapshot {
            snapshot.seal(lastTurn)
            if snapshot.isEnded { self.snapshot = nil }
        }
        guard isSnapshotWanted, snapshot == nil, !tree.isSnapshotted else { return false }
        isSnapshotWanted = false
        snapshot = makeSnapshot(isLive: true)
        orders.append(.beginSnapshot)
        return true
    }

    /// A snapshot for a server that runs no further action; nil if changes are in no batch.
    func lastSnapshot() -> ServerSnapshot? {
        isUnsealed ? nil : makeSnapshot(isLive: false)
    }

    private func makeSnapshot(isLive: Bool) -> ServerSnapshot {
        ServerSnapshot(of: tree, sessions, isLive: isLive) { [weak self, highestConnection] in
            self?.highestConnection ?? highestConnection
        }
    }
}
