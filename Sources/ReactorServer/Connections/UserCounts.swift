/// The number of connections, or subscriptions, of each user.
///
/// *Place*: limits per user, which keep room for other users. ``invariants()`` states the
/// invariants.
struct UserCounts {
    private var counts: [UInt32: Int] = [:]
    /// The sum of all users.
    private(set) var total = 0

    /// Number of users with any.
    var userCount: Int { counts.count }

    /// The number of `uid`.
    subscript(uid: UInt32) -> Int { counts[uid] ?? 0 }

    /// Adds `difference` to the number of `uid`.
    mutating func count(_ difference: Int, of uid: UInt32) {
        let count = self[uid] + difference
        precondition(count >= 0, "uid \(uid) gave back more than it had")
        counts[uid] = count == 0 ? nil : count
        total += difference
        invariants()
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            counts.count > 32 || counts.values.reduce(0, +) == total,
            "all users have \(total), each has \(counts.values)")
    }
}
