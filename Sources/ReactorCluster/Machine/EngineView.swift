/// What a machine knows of the engine and the leader.
struct EngineView {
    /// The leader key, and its revision, as far as known.
    var term: UInt64 = 0
    var leader: LeaderRecord?
    var outage: EngineOutage?
    /// The number of the log's last entry at the last look.
    var head: UInt64 = 0
    /// Take-overs that this process tried.
    var attempts: UInt64 = 0
    /// Until this time, a vacancy is left to other nodes: this one has stepped down.
    var yieldsUntil: UInt64 = 0
    var beatSentAt: UInt64 = 0

    /// The last term of this process that ended without an answer of the engine.
    var abandonedTerm: UInt64?

    /// Whether the leader key has a claim of a process of `node` other than `incarnation`, or one
    /// that this process gave up.
    func isLedByFormerProcess(of node: ClusterNode, _ incarnation: UInt64) -> Bool {
        guard let claim = leader?.claim, claim.node == node else { return false }
        return claim.incarnation != incarnation || abandonedTerm == term
    }

    /// Whether `node` may take over the leadership of a look without waiting.
    func isVacant(_ sighting: LeaderSighting, for node: ClusterNode, at now: UInt64) -> Bool {
        switch sighting.leader {
        case .held: false
        case .vacant(let successor?): successor == node
        case .vacant(nil): now >= yieldsUntil
        case nil: true
        }
    }
}
