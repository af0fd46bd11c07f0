import ReactorWire

/// The memory that is left for requests: large answers, and states of the past.
///
///     grants.measured(.none, used: bytes, max: limits.memoryMax)
///     if byteCount > grants.grantMax { throw grants.refusal(of: byteCount, for: "the answer") }
///     grants.grant(byteCount)
///
/// From 90 % of ``ServerLimits/memoryMax`` on it grants only a small share of that, and below only what
/// fits. What was granted since the last measurement but one counts as used: it may not be allocated
/// yet. A state of the past counts no longer than it is claimed.
///
/// *Place*: ``AnswerService`` limits an answer that is encoded off the loop to ``grantMax``, and the
/// shell claims memory before it restores a state of the past, which is charged to the user that asks.
/// *Owner*: the server.
/// *Shape*: without a ceiling it grants everything. ``invariants()`` states the invariants.
final class MemoryGrants {
    /// A state of the past that is being restored for a question.
    struct Claim {
        let uid: UInt32
        let byteCount: Int
        /// Number of measurements since the claim.
        fileprivate var age = 0
    }

    /// The states of the past, in the order of their questions.
    private(set) var claims: [Claim] = []
    /// Their bytes by user.
    private(set) var pastByteCounts: [UInt32: Int] = [:]
    private var pressure = MemoryPressure.none
    private var usedByteCount = 0
    /// The ceiling of the process in bytes, above which nothing is granted; 0 without a ceiling.
    private var byteCountMax = 0
    /// Bytes granted since the last measurement, and between the two before.
    private var granted = (since: 0, before: 0)

    /// Takes a measurement of the process.
    func measured(_ pressure: MemoryPressure, used byteCount: Int, max byteCountMax: Int) {
        self.pressure = pressure
        usedByteCount = byteCount
        self.byteCountMax = byteCountMax
        granted = (0, granted.since)
        for index in claims.indices { claims[index].age += 1 }
        invariants()
    }

    /// An answer of this share of the ceiling is made at any level.
    static let shareMin = 256

    private var used: Int { usedByteCount + granted.since + granted.before }

    /// Maximum bytes of what may be granted now.
    var grantMax: Int {
        guard byteCountMax > 0 else { return .max }
        return max(pressure == .none ? byteCountMax - used : 0, byteCountMax / Self.shareMin)
    }

    /// Counts bytes for which memory is allocated now.
    func grant(_ byteCount: Int) {
        if byteCountMax > 0 { granted.since += byteCount }
        invariants()
    }

    /// The refusal of a request for more than ``grantMax``: it names the limit, the bytes used and
    /// the bytes requested.
    func refusal(of byteCount: Int, for purpose: String) -> Refusal {
        Refusal(
            .busy,
            "memoryMax \(byteCountMax) bytes: the daemon has \(used), and \(purpose) may take "
                + "\(byteCount) more: ask for less, or again when states are smaller")
    }

    /// Claims memory for a state of the past of `byteCount` bytes until ``endPast(of:)``, for a user
    /// whose clients keep `keptByteCount`, at most `keptMax`; 0 for no limit. The only claim of a
    /// user may be larger.
    ///
    /// *Throws*: BUSY with the limit, the bytes kept and the bytes requested.
    func claimPast(
        _ byteCount: Int, of uid: UInt32, keeping keptByteCount: Int, max keptMax: Int
    ) throws(Refusal) {
        guard keptMax == 0 || pastByteCounts[uid] == nil || keptByteCount + byteCount <= keptMax
        else {
            throw Refusal(
                .busy,
                "memoryPerUIDMax \(keptMax) bytes: the clients of uid \(uid) keep "
                    + "\(keptByteCount), and a state of the past may take \(byteCount) more: await "
                    + "the answers under way")
        }
        guard byteCount <= grantMax else {
            throw refusal(of: byteCount, for: "a state of the past")
        }
        grant(byteCount)
        claims.append(Claim(uid: uid, byteCount: byteCount))
        pastByteCounts[uid, default: 0] += byteCount
        invariants()
    }

    /// Ends the first claim of a user for a state of the past, if it has one.
    func endPast(of uid: UInt32) {
        guard let index = claims.firstIndex(where: { $0.uid == uid }) else { return }
        let claim = claims.remove(at: index)
        let left = (pastByteCounts[uid] ?? 0) - claim.byteCount
        pastByteCounts[uid] = claims.contains { $0.uid == uid } ? left : nil
        takeBack(claim)
        invariants()
    }

    // Otherwise questions one after the other, such as the pages of an export, would add up.
    private func takeBack(_ claim: Claim) {
        switch claim.age {
        case 0: granted.since -= min(granted.since, claim.byteCount)
        case 1: granted.before -= min(granted.before, claim.byteCount)
        default: break
        }
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        let claimed = claims.reduce(0) { $0 + $1.byteCount }
        assert(
            granted.since >= 0 && granted.before >= 0
                && pastByteCounts.values.reduce(0, +) == claimed,
            "\(pastByteCounts) are not the sums of \(claims)")
    }
}
