import ReactorCore

/// Collects the nodes that change, and probes them when a probe is due.
///
///     probes.collect(behind: 120, at: now)             // a turn with a change
///     if let sums = probes.takeSums() { … }            // for the turn's row
///     if let probe = probes.take(at: now) { … }        // for the turn's row; its sums come later
///
/// *Place*: ``Chronicle`` asks it at the end of a turn. ``invariants()`` states the invariants.
struct TurnProbes {
    private let tree: Tree
    private var schedule = ProbeSchedule()
    /// The nodes that changed since the last probe.
    private var changed: ChangedNodes
    /// The sequence up to which the history has the sums of every node that changed.
    private var coveredSequence: UInt64
    /// The sequence of the last probe, if it and those before it cover every change up to it; nil
    /// without a probe whose sums are not recorded.
    private var nextCoveredSequence: UInt64?
    /// Whether a probe left out a changed node, so that ``coveredSequence`` stays where it is.
    private var isBehind = false

    /// Continues from `recovery`: the first probe sums what its history leaves unverified.
    init(_ recovery: Recovery, keepsHistory: Bool) {
        tree = recovery.tree
        let verified = recovery.unverified.verifiedSequence
        coveredSequence = verified ?? recovery.tree.turn.sequence
        changed =
            keepsHistory
            ? verified.map { recovery.tree.changedNodes(after: $0) } ?? ChangedNodes()
            : ChangedNodes()
        invariants()
    }

    /// Whether the turn gets a row for a probe or for sums, also without a change.
    var isRowDue: Bool { schedule.isRowDue }

    /// Passes the time, once a second.
    mutating func tick(at now: UInt64) {
        if !changed.numbers.isEmpty { schedule.countEarlier(at: now) }
        schedule.tick(at: now)
    }

    /// Collects the changes of a turn whose row has `byteCount` bytes.
    mutating func collect(behind byteCount: Int, at now: UInt64) {
        schedule.count(behind: byteCount, at: now)
        tree.collectChanged(into: &changed)
    }

    /// Takes the sums that the journal does not have, for the turn's row.
    mutating func takeSums() -> [UInt64]? {
        guard let sums = schedule.takeSums() else { return nil }
        if let next = nextCoveredSequence { coveredSequence = next }
        nextCoveredSequence = nil
        invariants()
        return sums
    }

    /// Takes a probe for the turn's row, if one is due.
    mutating func take(at now: UInt64) -> StateProbe? {
        guard schedule.isDue(at: now) else { return nil }
        tree.collectChanged(into: &changed, Tree.probedFrameCount)
        let probe = tree.probe(changed)
        schedule.start(at: now, isEmpty: probe.nodes.isEmpty)
        if !changed.isComplete { isBehind = true }
        if !isBehind { nextCoveredSequence = tree.turn.sequence }
        changed = ChangedNodes()
        invariants()
        return probe.nodes.isEmpty ? nil : probe
    }

    /// Ends the turn, which has its row.
    mutating func endTurn() { schedule.endTurn() }

    /// Records the sums of the last probe, which read `byteCount` bytes.
    mutating func finish(_ sums: [UInt64], byteCount: Int) {
        schedule.finish(sums, byteCount: byteCount)
    }

    /// Takes a probe of every node without recorded sums, for a server that runs no further action;
    /// nil if there is none.
    mutating func takeLast() -> StateProbe? {
        guard coveredSequence < tree.turn.sequence else { return nil }
        let probe = tree.probe(changedAfter: coveredSequence)
        coveredSequence = tree.turn.sequence
        nextCoveredSequence = nil
        return probe.nodes.isEmpty ? nil : probe
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(coveredSequence <= tree.turn.sequence, "sums are recorded of a later state")
        assert(!isBehind || nextCoveredSequence == nil, "a probe covers what another left out")
    }
}
