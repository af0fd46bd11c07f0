/// The connections without a hello.
///
/// They have a separate limit, so that silent clients take no room from others. Above it, the
/// server closes the oldest silent connection of the user with the most of them: a user that opens
/// connections and stays silent loses its own, and no client waits for the handshake deadline. A
/// connection is closed only after its socket was read, as its hello may have arrived.
/// ``invariants()`` states the invariants.
struct SilentPool {
    private var members: [UInt32: ArrivalOrder<ConnectionID>] = [:]
    /// Silent connections of all users.
    private(set) var count = 0
    /// Maximum number of silent connections.
    var countMax: Int

    init(countMax: Int) { self.countMax = countMax }

    /// Whether there are more than ``countMax``.
    var isCrowded: Bool { count > countMax }

    /// Adds a connection of `uid`.
    mutating func enter(_ id: ConnectionID, of uid: UInt32) {
        members[uid, default: ArrivalOrder()].append(id)
        count += 1
        invariants()
    }

    /// Removes a connection that sent its hello or is closed, if it is in the pool.
    mutating func leave(_ id: ConnectionID, of uid: UInt32) {
        guard members[uid]?.remove(id) ?? false else { return }
        count -= 1
        if members[uid]?.isEmpty ?? true { members[uid] = nil }
        invariants()
    }

    /// Removes the connection to close, if there are too many; `wasRead` returns whether a
    /// connection's socket was read since it was accepted.
    ///
    /// That is the oldest of the user with the most; if users have equally many, the oldest of
    /// theirs. If that one was not read yet, no connection is removed, not even another user's.
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

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            members.count > 32
                || members.values.reduce(0) { $0 + $1.count } == count
                    && members.values.allSatisfy { !$0.isEmpty },
            "\(count) connections are not the sum of all users'")
    }
}
