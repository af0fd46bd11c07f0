import DequeModule
import ReactorBytes
import ReactorCore
import ReactorThreads

// MARK: - Going on with an earlier run
extension ClientMachine {
    /// Ordinals that are passed over between the runs of a program.
    ///
    /// More than a run can have lost of the journal's end, where the machine lost its power: none
    /// of those may be given to another action.
    static let ordinalsPassedOver: UInt64 = 1 << 32

    /// Takes over what an earlier run left in the journal.
    func takeOver(_ journal: ClientJournal) {
        let state = journal.takeRecovered()
        session = state.session.secret
        knownEpoch = state.session.epoch
        sessionSince = state.session.since
        let start = state.last == 0 ? 1 : state.last + Self.ordinalsPassedOver + 1
        pending.start(from: start)
        confirmed = state.concluded
        var used: Set<UInt32> = []
        for (ordinal, frame) in state.frames {
            used.formUnion(PendingState.nodes(of: frame.span))
            pending.restore(ordinal, frame) { [unowned self] outcome in
                concludeRecovered(ordinal, outcome)
            }
        }
        for node in used.sorted() {
            guard let path = state.paths[node] else { continue }
            nodes.restore(node, path)
            recoveredNodes.append(NodeID(rawValue: node))
        }
        recoveredCount = state.frames.count
        board.statistics.withLock { $0.recoveredActions = UInt64(state.frames.count) }
    }

    /// An action of an earlier run has its outcome.
    private func concludeRecovered(_ ordinal: UInt64, _ outcome: ActionOutcome) {
        recoveredCount -= 1
        if recoveredCount == 0 {
            for node in recoveredNodes { release(node) }
            recoveredNodes = []
        }
        board.news.add(
            .recovered(Origin(client: welcome?.client ?? 0, ordinal: ordinal), outcome))
    }
}

// MARK: - Keeping
extension ClientMachine {
    /// Whether the journal has not got everything that it is to hold.
    var mustKeep: Bool {
        guard let journal else { return false }
        return journal.needsRewrite || pending.next &- 1 > journal.keptLast
    }

    /// Has the journal hold what is about to leave, and what waits.
    ///
    /// A client whose journal cannot be written ends, because it could not hold what it promised;
    /// answers false then.
    func keepPending() -> Bool {
        guard let journal, mustKeep || confirmed > journal.concluded else { return true }
        do throws(ClientError) {
            try keep(in: journal)
            return true
        } catch {
            self.journal = nil
            outgoing.removeAll()
            fail(error, leaving: pendingCount > 0 ? .some : .nothing)
            return false
        }
    }

    private func keep(in journal: ClientJournal) throws(ClientError) {
        let last = pending.next - 1
        let path = { [nodes] (index: UInt32) in nodes[index]?.path }
        var portion = ClientJournal.Portion()
        if journal.needsRewrite {
            for ordinal in pending.stragglers.keys.sorted() {
                if let frame = pending.stragglers[ordinal]?.frame { portion.add(frame.span) }
            }
            for chunk in sent.chunks { add(chunk.bytes.span, 0..<chunk.count, to: &portion) }
            addUnsent(to: &portion, after: 0)
            try journal.rewrite(
                portion, last: last, concluded: pending.contiguous, path: path)
        } else {
            if last > journal.keptLast { addUnsent(to: &portion, after: journal.keptLast) }
            try journal.append(
                portion, last: last, concluded: pending.contiguous, path: path)
        }
    }

    /// Adds the actions among whole frames that have no outcome and stand in the ring.
    private func add(
        _ bytes: Span<UInt8>, _ range: Range<Int>, after last: UInt64 = 0,
        to portion: inout ClientJournal.Portion
    ) {
        var ranges: [Range<Int>] = []
        SentActions.forEachAction(in: bytes, range) { ordinal, range in
            if ordinal > last, ordinal >= pending.first, pending.isPending(ordinal) {
                ranges.append(range)
            }
        }
        for range in ranges { portion.add(bytes.extracting(range)) }
    }

    /// Adds the actions above an ordinal that were not handed to a connection.
    private func addUnsent(to portion: inout ClientJournal.Portion, after last: UInt64) {
        outgoing.withBytes { add($0, 0..<$0.count, after: last, to: &portion) }
        waiting.withBytes { add($0, waitingStart..<$0.count, after: last, to: &portion) }
    }

    /// What a journal that a client parts with has of the actions without an outcome.
    enum Legacy {
        case nothing
        /// All of them, for the next run.
        case all
        /// It could not be written, and nobody knows which.
        case some
    }

    /// Parts with the journal, because the client ends.
    func leaveJournal() -> Legacy {
        guard let journal else { return .nothing }
        self.journal = nil
        guard (try? keep(in: journal)) != nil else { return pendingCount > 0 ? .some : .nothing }
        if pendingCount > 0 { return .all }
        // because a session that was said goodbye to is nothing to go on with
        try? journal.clear()
        return .nothing
    }
}
