/// The connections that have not said hello yet.
///
/// They have places of their own, so that silence takes none from those who speak. When there are
/// too many, the newcomer comes in and a silent one goes: the oldest of the user who has the most.
/// So a user who opens connections and says nothing drives out their own, and nobody waits for the
/// handshake deadline. A client that says hello with its first bytes is not old enough to go.
struct SilentPool {
    private var members: [UInt32: ArrivalOrder<ConnectionID>] = [:]
    /// Silent connections of all users.
    private(set) var count = 0
    /// Most silent connections.
    let countMax: Int

    init(countMax: Int) { self.countMax = countMax }

    /// Takes in a connection of `uid`; says which one has to go for it, if there are too many.
    mutating func enter(_ id: ConnectionID, of uid: UInt32) -> ConnectionID? {
        members[uid, default: ArrivalOrder()].append(id)
        count += 1
        guard count > countMax else { return nil }
        let crowded = mostCrowded(preferring: uid)
        guard let oldest = members[crowded]?.first else { return nil }
        leave(oldest, of: crowded)
        return oldest
    }

    /// Takes out a connection that spoke or is closed; one that is not in is not missed.
    mutating func leave(_ id: ConnectionID, of uid: UInt32) {
        guard members[uid]?.remove(id) ?? false else { return }
        count -= 1
        if members[uid]?.isEmpty ?? true { members[uid] = nil }
    }

    /// The user with the most silent connections; among equals the newcomer, else the lowest uid.
    ///
    /// *Cost*: O(users with silent connections), which are no more than the pool is large.
    private func mostCrowded(preferring newcomer: UInt32) -> UInt32 {
        let most = members.values.map(\.count).max() ?? 0
        // because the order of a dictionary differs from process to process
        let equals = members.filter { $0.value.count == most }.keys
        return equals.contains(newcomer) ? newcomer : equals.min() ?? newcomer
    }
}
