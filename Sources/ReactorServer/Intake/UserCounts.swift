/// How many connections, or subscriptions, each user has.
///
/// *Place*: what one user may have is limited, so that the rest is there for the others.
struct UserCounts {
    private var counts: [UInt32: Int] = [:]
    /// What all users together have.
    private(set) var total = 0

    /// Users that have any.
    var userCount: Int { counts.count }

    /// What `uid` has.
    subscript(uid: UInt32) -> Int { counts[uid] ?? 0 }

    /// Records that `uid` has so many more, or fewer.
    mutating func add(_ difference: Int, of uid: UInt32) {
        let count = self[uid] + difference
        precondition(count >= 0, "uid \(uid) gave back more than it had")
        counts[uid] = count == 0 ? nil : count
        total += difference
    }
}
