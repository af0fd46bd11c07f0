/// Decides when a server with a journal probes its states: after many changes, and once a minute
/// while changes come.
///
///     schedule.count(behind: 120, at: now)        // a turn with a change
///     schedule.tick(at: now)                      // once a second
///     if schedule.isDue(at: now) { schedule.start(at: now) }
///     schedule.finish(sums, byteCount: 4_096)     // the sums arrived
///
/// *Cost*: a probe after many changes reads at most one byte for each 64 bytes that the journal
/// got since the probe before it; one after a minute may also read ``bytesPerMinute`` for each
/// minute since then. The first probe is not bounded, since its size is unknown.
/// ``invariants()`` states the invariants.
struct ProbeSchedule {
    /// Bytes that the journal got since the last probe.
    private var byteCount = 0
    /// Number of turns since then.
    private var turnCount = 0
    /// Time of the first change since then; nil without one.
    private var changedAt: UInt64?
    /// Time of the last probe, or of the first change in this run.
    private var probedAt: UInt64?
    /// Bytes that the last probe read.
    private var probedByteCount = 0
    /// Whether the last probe's sums have not arrived.
    private var isWaiting = false
    /// Sums that arrived and are not recorded.
    private var sums: [UInt64]?
    /// Whether the turn gets a row for a probe or for sums, also without a change.
    private(set) var isRowDue = false

    /// Number of turns with a change after which a probe is due.
    static let turnsMax = 256
    /// Bytes in the journal after which a probe is due.
    static let bytesMax = 1 << 20
    /// Bytes in the journal for each byte that a probe reads.
    private static let bytesPerProbedByte = 64
    /// Nanoseconds after a change within which a probe of a small state is due.
    static let interval: UInt64 = 60_000_000_000
    /// Bytes that a probe may read for each minute since the last one.
    static let bytesPerMinute = 1 << 20

    /// Counts a turn with a change.
    mutating func count(behind byteCount: Int, at now: UInt64) {
        self.byteCount += byteCount
        turnCount += 1
        if changedAt == nil { changedAt = now }
        if probedAt == nil { probedAt = now }
    }

    /// Counts changes of an earlier run that have no sums.
    mutating func countEarlier(at now: UInt64) {
        if changedAt == nil { changedAt = now }
        if probedAt == nil { probedAt = now }
    }

    /// Decides whether the next turn gets a row for a probe or for sums. Call it once a second.
    mutating func tick(at now: UInt64) { isRowDue = sums != nil || isOverdue(at: now) }

    /// Whether a probe is due.
    func isDue(at now: UInt64) -> Bool {
        guard !isWaiting, sums == nil else { return false }
        return isOverdue(at: now)
            || (turnCount >= Self.turnsMax || byteCount >= Self.bytesMax)
                && byteCount / Self.bytesPerProbedByte >= probedByteCount
    }

    /// Whether a change has waited for a minute, and a probe is not too expensive.
    private func isOverdue(at now: UInt64) -> Bool {
        guard !isWaiting, let changedAt, let probedAt, now >= changedAt,
            now - changedAt >= Self.interval
        else { return false }
        let minutes = Int(clamping: (now - probedAt) / Self.interval)
        let (allowed, isHuge) = minutes.multipliedReportingOverflow(by: Self.bytesPerMinute)
        return isHuge || byteCount / Self.bytesPerProbedByte + allowed >= probedByteCount
    }

    /// Ends the turn, which has its row.
    mutating func endTurn() { isRowDue = false }

    /// Records that a probe was taken, or that no changed node is left to probe.
    mutating func start(at now: UInt64, isEmpty: Bool = false) {
        byteCount = 0
        turnCount = 0
        changedAt = nil
        probedAt = now
        isWaiting = !isEmpty
        invariants()
    }

    /// Records the sums of the last probe. Ignores sums without a probe.
    mutating func finish(_ sums: [UInt64], byteCount: Int) {
        guard isWaiting else { return }
        isWaiting = false
        probedByteCount = byteCount
        self.sums = sums
        invariants()
    }

    /// Takes the sums that the journal does not have.
    mutating func takeSums() -> [UInt64]? {
        defer { sums = nil }
        return sums
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            !isWaiting || sums == nil, "a probe was taken before the sums of the last one are kept")
        assert(byteCount >= 0 && turnCount >= 0 && probedByteCount >= 0, "a count is negative")
        assert(changedAt == nil || probedAt != nil, "a change waits since no time")
    }
}
