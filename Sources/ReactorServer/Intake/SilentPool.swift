/// The connections that have not said hello.
///
/// They have a limit of their own, so that silent clients take no room from others. Beyond it the
/// oldest silent connection of the user with the most of them is closed: a user that opens connections
/// and says nothing closes its own, and no client waits for the handshake deadline. A connection is
/// closed only after its socket was read, since its hello may have arrived. ``invariants()`` states what
/// holds between two verbs.
struct SilentPool {
    private var members: [UInt32: ArrivalOrder<ConnectionID>] = [:]
    /// Silent connections of all users.
    private(set) var count = 0
    /// Maximum number of silent connections.
    let countMax: Int

    init(countMax: Int) { self.countMax = countMax }

    /// Whether there are more than ``countMax``.
    var isCrowded: Bool { count > countMax }

    /// Adds a connection of `uid`.
    mutating func enter(_ id: ConnectionID, of uid: UInt32) {
        members[uid, default: ArrivalOrder()].append(id)
        count += 1
        invariants()
    }

    /// Removes a connection that said hello or is closed, if it is in the pool.
    mutating func leave(_ id: ConnectionID, of uid: UInt32) {
        guard members[uid]?.remove(id) ?? false else { return }
        count -= 1
        if members[uid]?.isEmpty ?? true { members[uid] = nil }
        invariants()
    }

    /// Removes the connection that is to be closed, if there are too many; `wasRead` answers whether its
    /// socket was read since it connected.
    ///
    /// It is the oldest of the user with the most; among equals, the oldest. No connection is removed
    /// before that one was read, also none of another user.
    ///
    /// *Cost*: O(users with silent connections), at most the size of the pool.
    mutating func takeExcess(_ wasRead: (ConnectionID) -> Bool) -> ConnectionID? {
        guard isCrowded else { return nil }
        var found: (uid: UInt32, id: ConnectionID, count: Int)?
        for (uid, order) in members {
            guard let id = order.first else { continue }
            let isNext =
                found.map { ($0.count, id.rawValue) < (order.count, $0.id.rawValue) } ?? true
            if isNext { found = (uid, id, order.count) }
        }
        guard let found, wasRead(found.id) else { return nil }
        leave(found.id, of: found.uid)
        return found.id
    }

    /// What holds between two verbs; checked in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            members.count > 32
                || members.values.reduce(0) { $0 + $1.count } == count
                    && members.values.allSatisfy { !$0.isEmpty },
            "\(count) connections are not the sum of all users'")
    }
}
