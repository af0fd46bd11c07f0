/// All sessions, of connected clients and of those that may come back.
///
/// *Cost*: every operation is O(1), on average over many.
struct SessionTable {
    private var sessions: [[UInt8]: Session] = [:]
    private var byClient: [UInt64: Session] = [:]
    private var lastClient: UInt64 = 0
    /// Clients whose sessions no connection speaks for, those that were left first in front;
    /// with and without actions.
    private var left = ArrivalOrder<UInt64>()
    private var leftBlank = ArrivalOrder<UInt64>()
    /// Most sessions; beyond it one that nobody uses is evicted.
    let sessionsMax: Int

    init(sessionsMax: Int) { self.sessionsMax = sessionsMax }

    var count: Int { sessions.count }
    /// The most outcomes that one session remembers. *Cost*: O(sessions).
    var outcomesOfOne: Int { sessions.values.map(\.outcomeCount).max() ?? 0 }
    /// The most actions of one session whose effects are waited for. *Cost*: O(sessions).
    var awaitedOfOne: Int { sessions.values.map(\.awaited.count).max() ?? 0 }

    /// The session with a secret, for the uid that it belongs to; another uid learns nothing.
    func find(_ secret: [UInt8], uid: UInt32) -> Session? {
        guard let session = sessions[secret], session.uid == uid else { return nil }
        return session
    }

    func find(client: UInt64) -> Session? { byClient[client] }

    /// Makes a session; evicts the one that has been disconnected longest if there are too many.
    mutating func make(uid: UInt32, secret: [UInt8]) -> Session {
        if sessions.count >= sessionsMax { evictOne() }
        lastClient += 1
        let session = Session(secret: secret, uid: uid, client: lastClient)
        sessions[secret] = session
        byClient[session.client] = session
        return session
    }

    /// Takes note that a session's connection ended, at `now`.
    mutating func leave(_ session: Session, at now: UInt64) {
        session.connection = nil
        session.disconnectedAt = now
        if session.isBlank { leftBlank.append(session.client) } else { left.append(session.client) }
    }

    /// Takes note that a connection speaks for a session.
    mutating func join(_ session: Session, _ connection: Connection) {
        session.connection = connection
        left.remove(session.client)
        leftBlank.remove(session.client)
    }

    mutating func remove(_ session: Session) {
        sessions[session.secret] = nil
        byClient[session.client] = nil
        left.remove(session.client)
        leftBlank.remove(session.client)
    }

    /// Evicts the session that was left first, one without actions if there is one.
    private mutating func evictOne() {
        // because nothing is lost with a session that has no actions
        guard let client = leftBlank.first ?? left.first, let session = byClient[client] else {
            return
        }
        remove(session)
    }

    /// Forgets sessions without actions whose connection ended before `time`: their clients may
    /// have sent some that never arrived, and are given a while to come back with them.
    mutating func forgetBlank(before time: UInt64) {
        while let client = leftBlank.first, let session = byClient[client],
            session.disconnectedAt < time
        {
            remove(session)
        }
    }
}
