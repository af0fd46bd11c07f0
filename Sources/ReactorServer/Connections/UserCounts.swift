/// How many connections, or subscriptions, each user has.
///
/// *Place*: a limit for each user keeps room for the others. ``invariants()`` states what holds between
/// two verbs.
struct UserCounts {
    private var counts: [UInt32: Int] = [:]
    /// What all users together have.
    private(set) var total = 0

    /// Users that have any.
    var userCount: Int { counts.count }

    /// What `uid` has.
    subscript(uid: UInt32) -> Int { counts[uid] ?? 0 }

    /// Records that `uid` has so many more, or fewer.
    mutating func count(_ difference: Int, of uid: UInt32) {
        let count = self[uid] + difference
        precondition(count >= 0, "uid \(uid) gave back more than it had")
        counts[uid] = count == 0 ? nil : count
        total += difference
        invariants()
    }

    /// What holds between two verbs; checked in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            counts.count > 32 || counts.values.reduce(0, +) == total,
            "all users have \(total), each has \(counts.values)")
    }
}
