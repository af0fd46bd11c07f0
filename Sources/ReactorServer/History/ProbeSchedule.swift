/// Decides when a server that keeps history probes its states.
///
/// *Cost*: the bytes that are summed are at most a sixty-fourth of the bytes that are written, except
/// for the first probe. ``invariants()`` states what holds between two verbs.
struct ProbeSchedule {
    /// Bytes that were handed to the journal since the last probe.
    private var byteCount = 0
    /// Turns since then.
    private var turnCount = 0
    /// Bytes that the last probe looked at.
    private var probedByteCount = 0
    /// Whether the sums of the last probe have not arrived.
    private var isWaiting = false
    /// Sums that arrived and are not recorded.
    private var sums: [UInt64]?

    /// Turns with a change after which a probe is due.
    static let turnsMax = 256
    /// Bytes of journal after which a probe is due.
    static let bytesMax = 1 << 20
    /// Bytes of journal for each byte that is summed.
    private static let bytesPerProbedByte = 64

    /// Counts a turn with a change; answers whether a probe is due.
    mutating func isDue(behind byteCount: Int) -> Bool {
        self.byteCount += byteCount
        turnCount += 1
        return !isWaiting && sums == nil
            && (turnCount >= Self.turnsMax || self.byteCount >= Self.bytesMax)
            && self.byteCount / Self.bytesPerProbedByte >= probedByteCount
    }

    /// Records that a probe was taken.
    mutating func start() {
        byteCount = 0
        turnCount = 0
        isWaiting = true
        invariants()
    }

    /// Records the sums of the last probe; sums that no probe waits for are ignored.
    mutating func finish(_ sums: [UInt64], byteCount: Int) {
        guard isWaiting else { return }
        isWaiting = false
        probedByteCount = byteCount
        self.sums = sums
        invariants()
    }

    /// Takes the sums that are to be recorded.
    mutating func takeSums() -> [UInt64]? {
        defer { sums = nil }
        return sums
    }

    /// What holds between two verbs; checked in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            !isWaiting || sums == nil, "a probe was taken before the sums of the last one are kept")
        assert(byteCount >= 0 && turnCount >= 0 && probedByteCount >= 0, "a count is negative")
    }
}
