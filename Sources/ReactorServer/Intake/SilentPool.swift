/// The connections that have not said hello yet.
///
/// They have places of their own, so that silence takes none from those who speak. When there are
/// too many, a silent one goes: the oldest of the user who has the most. So a user who opens
/// connections and says nothing drives out their own, and nobody waits for the handshake deadline.
/// A connection goes only after its socket was read: a hello that has arrived is heard first.
struct SilentPool {
    private var members: [UInt32: ArrivalOrder<ConnectionID>] = [:]
    /// Silent connections of all users.
    private(set) var count = 0
    /// Most silent connections.
    let countMax: Int

    init(countMax: Int) { self.countMax = countMax }

    /// Whether there are more than there are places.
    var isCrowded: Bool { count > countMax }

    /// Takes in a connection of `uid`.
    mutating func enter(_ id: ConnectionID, of uid: UInt32) {
        members[uid, default: ArrivalOrder()].append(id)
        count += 1
    }

    /// Takes out a connection that spoke or is closed; one that is not in is not missed.
    mutating func leave(_ id: ConnectionID, of uid: UInt32) {
        guard members[uid]?.remove(id) ?? false else { return }
        count -= 1
        if members[uid]?.isEmpty ?? true { members[uid] = nil }
    }

    /// Takes out the connection that has to go, if there are too many; `wasRead` says whether its
    /// socket was read since it came.
    ///
    /// It is the oldest of the user with the most; among equals, the one that came first. None goes
    /// while that one was not read: another user's does not go in its place.
    ///
    /// *Cost*: O(users with silent connections), which are no more than the pool is large.
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
}
