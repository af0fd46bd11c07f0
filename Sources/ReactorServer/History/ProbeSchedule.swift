/// Decides when a server with a journal probes its states.
///
/// *Cost*: a probe reads at most one byte for each 64 bytes that the journal gets, except for the
/// first probe. ``invariants()`` states the invariants.
struct ProbeSchedule {
    /// Bytes that the journal got since the last probe.
    private var byteCount = 0
    /// Number of turns since then.
    private var turnCount = 0
    /// Bytes that the last probe read.
    private var probedByteCount = 0
    /// Whether the last probe's sums have not arrived.
    private var isWaiting = false
    /// Sums that arrived and are not recorded.
    private var sums: [UInt64]?

    /// Number of turns with a change after which a probe is due.
    static let turnsMax = 256
    /// Bytes in the journal after which a probe is due.
    static let bytesMax = 1 << 20
    /// Bytes in the journal for each byte that a probe reads.
    private static let bytesPerProbedByte = 64

    /// Counts a turn with a change; returns whether a probe is due.
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
    }
}
