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
    /// Secrets of sessions that were evicted, the first in front.
    private(set) var evicted = ArrivalOrder<[UInt8]>()
    /// Whether more were evicted than are remembered.
    private(set) var hasForgottenEvicted = false
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

    /// Whether there is a session of this secret, whosever it is.
    func isKnown(_ secret: [UInt8]) -> Bool { sessions[secret] != nil }

    func find(client: UInt64) -> Session? { byClient[client] }

    /// Makes a session; evicts the one that has been disconnected longest if there are too many.
    ///
    /// *Answers*: what was evicted as well, if the journal knows of it.
    mutating func make(uid: UInt32, secret: [UInt8]) -> (Session, evicted: Session?) {
        let evicted = sessions.count >= sessionsMax ? evictOne() : nil
        lastClient += 1
        let session = Session(secret: secret, uid: uid, client: lastClient)
        add(session)
        return (session, evicted)
    }

    private mutating func add(_ session: Session) {
        sessions[session.secret] = session
        byClient[session.client] = session
    }

    /// Makes the session again that a journal knows of.
    mutating func restore(client: UInt64, secret: [UInt8], uid: UInt32) {
        lastClient = max(lastClient, client)
        guard byClient[client] == nil else { return }
        let session = Session(secret: secret, uid: uid, client: client)
        session.isStored = true
        add(session)
        left.append(client)
    }

    /// Makes the session again that a snapshot knows of.
    mutating func restore(_ saved: SavedSession, _ limits: ServerLimits) {
        restore(client: saved.client, secret: saved.secret, uid: saved.uid)
        byClient[saved.client]?.restore(saved, limits)
    }

    /// Whether a session of this secret may have been evicted.
    func mayHaveEvicted(_ secret: [UInt8]) -> Bool {
        hasForgottenEvicted || evicted.contains(secret)
    }

    /// Most evicted sessions that are told apart from those that never had an action.
    static let evictedMax = 16_384

    /// Takes a session out whose client may still come back.
    mutating func evict(_ session: Session) {
        remove(session)
        noteEvicted(session.secret)
    }

    /// Remembers that a session was evicted.
    mutating func noteEvicted(_ secret: [UInt8]) {
        evicted.append(secret)
        guard evicted.count > Self.evictedMax, let first = evicted.first else { return }
        evicted.remove(first)
        hasForgottenEvicted = true
    }

    /// Takes note that more were evicted than are remembered.
    mutating func forgetEvicted() { hasForgottenEvicted = true }

    // because those that are restored are evicted in this order, which no hash is to decide
    /// The sessions that a journal knows of, those that began first in front. *Cost*: sorts them.
    var stored: [Session] { all.filter(\.isStored) }

    /// All of them, in the same order. *Cost*: sorts them.
    var all: [Session] { sessions.values.sorted { $0.client < $1.client } }

    /// The highest number that a client had.
    var lastNumber: UInt64 { lastClient }

    /// Takes note that clients had numbers up to this one.
    mutating func skip(to client: UInt64) { lastClient = max(lastClient, client) }

    /// Ends the connections that all of them had.
    func endFormerConnections(_ limits: ServerLimits) {
        for session in sessions.values { session.endConnection(limits) }
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
    private mutating func evictOne() -> Session? {
        // because nothing is lost with a session that has no actions
        guard let client = leftBlank.first ?? left.first, let session = byClient[client] else {
            return nil
        }
        if session.isBlank {
            remove(session)
            return nil
        }
        evict(session)
        return session.isStored ? session : nil
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
