/// All sessions, of connected clients and of clients that may come back.
///
/// *Shape*: a session is listed as left exactly while no connection speaks for it, though a session
/// that was just made is in neither state until ``join(_:_:)``. ``invariants()`` states what holds
/// between two verbs. *Cost*: every operation is O(1), on average over many.
final class SessionTable {
    private var sessions: [[UInt8]: Session] = [:]
    private var byClient: [UInt64: Session] = [:]
    private var lastClient: UInt64 = 0
    /// Clients whose session no connection speaks for.
    private var left = LeftSessions()
    /// The same clients by uid.
    private var leftOf: [UInt32: LeftSessions] = [:]
    /// How many sessions each uid has.
    private var counts: [UInt32: Int] = [:]
    /// Bytes of outcomes of sessions that no connection speaks for.
    private(set) var leftBytes = 0
    /// Sessions that had actions and have ended.
    private(set) var ended = EndedSessions()
    /// Maximum number of sessions; beyond it a disconnected one is evicted.
    let sessionsMax: Int
    /// Maximum number of sessions of one uid, likewise.
    let perUIDMax: Int

    init(sessionsMax: Int, perUIDMax: Int = .max) {
        self.sessionsMax = sessionsMax
        self.perUIDMax = perUIDMax
    }

    var count: Int { sessions.count }
    /// The most outcomes that one session remembers. *Cost*: O(sessions).
    var outcomesOfOne: Int { sessions.values.map(\.outcomeCount).max() ?? 0 }
    /// The most actions of one session whose effects are waited for. *Cost*: O(sessions).
    var awaitedOfOne: Int { sessions.values.map(\.awaitedCount).max() ?? 0 }

    /// The session with a secret, if it is of this uid; another uid learns nothing.
    func find(_ secret: [UInt8], uid: UInt32) -> Session? {
        guard let session = sessions[secret], session.uid == uid else { return nil }
        return session
    }

    /// Whether a session has this secret, of whatever uid.
    func isKnown(_ secret: [UInt8]) -> Bool { sessions[secret] != nil }

    func find(client: UInt64) -> Session? { byClient[client] }

    /// Makes a session. If there are too many of the uid, or of all, evicts those that have been
    /// disconnected longest. `sequence` is that of the last transaction.
    ///
    /// *Answers*: the session, and the evicted sessions that the journal has.
    func make(
        uid: UInt32, secret: [UInt8], at sequence: UInt64
    ) -> (Session, evicted: [Session]) {
        var evicted: [Session] = []
        while counts[uid] ?? 0 >= perUIDMax, let client = leftOf[uid]?.first,
            let session = byClient[client]
        {
            evict(session, at: sequence, into: &evicted)
        }
        while sessions.count >= sessionsMax, let client = left.first,
            let session = byClient[client]
        {
            evict(session, at: sequence, into: &evicted)
        }
        lastClient += 1
        let session = Session(secret: secret, uid: uid, client: lastClient)
        insert(session)
        invariants()
        return (session, evicted)
    }

    private func insert(_ session: Session) {
        counts[session.uid, default: 0] += 1
        byClient[session.client] = session
        // A snapshot may hold a later session with this secret.
        if let other = sessions[session.secret], other.client > session.client { return }
        sessions[session.secret] = session
    }

    /// Restores a session that the journal has.
    func restore(client: UInt64, secret: [UInt8], uid: UInt32) {
        lastClient = max(lastClient, client)
        guard byClient[client] == nil else { return }
        let session = Session(secret: secret, uid: uid, client: client)
        session.markStored()
        insert(session)
        list(session)
    }

    /// Records that a session of an earlier run had another action: it was left later than others.
    func touch(_ session: Session) { list(session) }

    /// Lists a session that no connection speaks for.
    private func list(_ session: Session) {
        // It may have had its first action since it was listed last.
        left.remove(session.client)
        leftOf[session.uid]?.remove(session.client)
        left.list(session.client, isBlank: session.isBlank && !session.isStored)
        leftOf[session.uid, default: LeftSessions()].list(
            session.client, isBlank: session.isBlank && !session.isStored)
        invariants()
    }

    private func unlist(_ session: Session) {
        left.remove(session.client)
        leftOf[session.uid]?.remove(session.client)
        if leftOf[session.uid]?.isEmpty ?? false { leftOf[session.uid] = nil }
        leftBytes -= session.unweigh()
    }

    /// Restores a session that a snapshot has.
    func restore(_ saved: SavedSession, _ limits: ServerLimits) {
        restore(client: saved.client, secret: saved.secret, uid: saved.uid)
        byClient[saved.client]?.restore(saved, limits.outcomes)
    }

    /// Restores which sessions had ended.
    func restore(_ sessions: [EndedSession], forgottenUpTo sequence: UInt64?) {
        for session in sessions { ended.remember(session.secret, at: session.sequence) }
        if let sequence { ended.forget(upTo: sequence) }
    }

    /// Removes a session for good; `sequence` is that of the last transaction.
    func end(_ session: Session, at sequence: UInt64) {
        remove(session)
        session.disconnect()
        // A session without actions may be resumed.
        if session.isStored || !session.isBlank { ended.remember(session.secret, at: sequence) }
    }

    /// The sessions that the journal has, in the order in which they were left.
    var stored: [Session] {
        left.all.compactMap { byClient[$0] }.filter(\.isStored)
            + byClient.values.filter { $0.isStored && $0.connection != nil }
            .sorted { $0.client < $1.client }
    }

    /// All sessions, the oldest first. *Cost*: sorts them.
    var all: [Session] { sessions.values.sorted { $0.client < $1.client } }

    /// The highest number of a client.
    var lastNumber: UInt64 { lastClient }

    /// Gives no client a number up to this one.
    func skip(to client: UInt64) { lastClient = max(lastClient, client) }

    /// Ends the connections that the sessions of an earlier run had.
    func endFormerConnections(_ limits: ServerLimits) {
        for session in byClient.values {
            session.endConnection(limits.outcomes)
            session.markStart()
            leftBytes += session.weigh()
        }
        invariants()
    }

    /// Records that the connection of a session ended, at `now`.
    func leave(_ session: Session, at now: UInt64) {
        session.disconnect(at: now)
        list(session)
    }

    /// Counts the outcomes of a session that was left. If the sum exceeds `bytesMax`, evicts the
    /// sessions with the most. *Answers* the evicted sessions that the journal has.
    func weigh(
        _ session: Session, bytesMax: Int, at sequence: UInt64
    ) -> [Session] {
        var evicted: [Session] = []
        guard session.connection == nil, byClient[session.client] === session else { return [] }
        leftBytes += session.weigh()
        while leftBytes > bytesMax,
            let largest = byClient.values.max(by: {
                ($0.weighedBytes, $1.client) < ($1.weighedBytes, $0.client)
            }), largest.weighedBytes > 0
        {
            evict(largest, at: sequence, into: &evicted)
        }
        invariants()
        return evicted
    }

    /// Lets a connection speak for a session.
    func join(_ session: Session, _ connection: ConnectionID) {
        unlist(session)
        session.connect(connection)
        invariants()
    }

    private func remove(_ session: Session) {
        if sessions[session.secret] === session { sessions[session.secret] = nil }
        guard byClient.removeValue(forKey: session.client) != nil else { return }
        unlist(session)
        let count = counts[session.uid] ?? 0
        counts[session.uid] = count > 1 ? count - 1 : nil
    }

    private func evict(
        _ session: Session, at sequence: UInt64, into evicted: inout [Session]
    ) {
        end(session, at: sequence)
        if session.isStored { evicted.append(session) }
    }

    /// Forgets sessions without actions whose connection ended before `time`. Their clients may have
    /// sent actions that never arrived, and have until then to send them again.
    func forgetBlank(before time: UInt64) {
        while let client = left.firstBlank, let session = byClient[client],
            session.disconnectedAt < time
        {
            remove(session)
        }
        invariants()
    }

    /// What holds between two verbs; checked in debug builds, the sums for a small table alone.
    @inline(__always)
    private func invariants() {
        assert(sessions.count <= byClient.count, "a session has no client")
        assert(leftBytes >= 0, "\(leftBytes) bytes of outcomes are kept")
        assert(byClient.count > 32 || sumsHold, "the sums of \(byClient.count) sessions are wrong")
    }

    private var sumsHold: Bool {
        counts.values.reduce(0, +) == byClient.count
            && byClient.values.reduce(0) { $0 + $1.weighedBytes } == leftBytes
            && byClient.values.allSatisfy { $0.connection == nil || !left.contains($0.client) }
            && left.count == leftOf.values.reduce(0) { $0 + $1.count }
    }
}

/// Sessions that no connection speaks for, in the order in which they were left.
struct LeftSessions {
    private var used = ArrivalOrder<UInt64>()
    private var blank = ArrivalOrder<UInt64>()

    var isEmpty: Bool { used.isEmpty && blank.isEmpty }
    /// The client whose session makes room first: one without actions, with which nothing is lost.
    var first: UInt64? { blank.first ?? used.first }
    /// The first client without actions.
    var firstBlank: UInt64? { blank.first }
    /// All clients, those without actions last.
    var all: [UInt64] { used.all + blank.all }

    var count: Int { used.count + blank.count }

    func contains(_ client: UInt64) -> Bool { used.contains(client) || blank.contains(client) }

    mutating func list(_ client: UInt64, isBlank: Bool) {
        if isBlank { blank.append(client) } else { used.append(client) }
    }

    mutating func remove(_ client: UInt64) {
        used.remove(client)
        blank.remove(client)
    }
}
