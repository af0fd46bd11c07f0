/// When a server that keeps history probes its states next.
///
/// *Cost*: what is summed up is at most a sixty-fourth of what is written, but for the first time.
struct ProbeBook {
    /// Bytes that were handed to the journal since the last probe.
    private var byteCount = 0
    /// Turns since then.
    private var turnCount = 0
    /// Bytes that the last probe looked at.
    private var probedByteCount = 0
    /// Whether the sums of the last one are still to come.
    private var isWaiting = false
    /// Sums that came and are not written down.
    private var sums: [UInt64]?

    /// Turns that change something after which a probe is due.
    static let turnsMax = 256
    /// Bytes of journal after which one is due.
    static let bytesMax = 1 << 20
    /// Bytes of journal for each byte that is looked at.
    private static let bytesPerProbedByte = 64

    /// Takes note of a turn that changes something; says whether a probe is due.
    mutating func isDue(behind byteCount: Int) -> Bool {
        self.byteCount += byteCount
        turnCount += 1
        return !isWaiting && sums == nil
            && (turnCount >= Self.turnsMax || self.byteCount >= Self.bytesMax)
            && self.byteCount / Self.bytesPerProbedByte >= probedByteCount
    }

    /// A probe was taken.
    mutating func begin() {
        byteCount = 0
        turnCount = 0
        isWaiting = true
    }

    /// The sums of the last one came; a daemon that has not asked for them has no use for them.
    mutating func end(_ sums: [UInt64], byteCount: Int) {
        guard isWaiting else { return }
        isWaiting = false
        probedByteCount = byteCount
        self.sums = sums
    }

    /// The sums that are to be written down.
    mutating func takeSums() -> [UInt64]? {
        defer { sums = nil }
        return sums
    }
}
