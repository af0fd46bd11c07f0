/// All sessions, of connected clients and of those that may come back.
///
/// *Cost*: every operation is O(1), on average over many.
final class SessionTable {
    private var sessions: [[UInt8]: Session] = [:]
    private var byClient: [UInt64: Session] = [:]
    private var lastClient: UInt64 = 0
    /// Clients whose sessions no connection speaks for.
    private var left = LeftSessions()
    /// The same, of each uid.
    private var leftOf: [UInt32: LeftSessions] = [:]
    /// How many sessions each uid has.
    private var counts: [UInt32: Int] = [:]
    /// Bytes of outcomes of sessions that no connection speaks for.
    private(set) var leftBytes = 0
    /// Sessions that had actions and are no more.
    private(set) var ended = EndedSessions()
    /// Most sessions; beyond it one that nobody uses is evicted.
    let sessionsMax: Int
    /// Most of one uid, likewise.
    let perUIDMax: Int

    init(sessionsMax: Int, perUIDMax: Int = .max) {
        self.sessionsMax = sessionsMax
        self.perUIDMax = perUIDMax
    }

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

    /// Makes a session; evicts those that have been disconnected longest if there are too many, of
    /// the uid's own or of all. `sequence` is that of the last transaction.
    ///
    /// *Answers*: what was evicted as well, as far as the journal knows of it.
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
        add(session)
        return (session, evicted)
    }

    private func add(_ session: Session) {
        counts[session.uid, default: 0] += 1
        byClient[session.client] = session
        // because a snapshot may know of a later session with the secret already
        if let other = sessions[session.secret], other.client > session.client { return }
        sessions[session.secret] = session
    }

    /// Makes the session again that a journal knows of.
    func restore(client: UInt64, secret: [UInt8], uid: UInt32) {
        lastClient = max(lastClient, client)
        guard byClient[client] == nil else { return }
        let session = Session(secret: secret, uid: uid, client: client)
        session.isStored = true
        add(session)
        wait(session)
    }

    /// Takes note that a session of a former run had another action: it was left later than others.
    func touch(_ session: Session) { wait(session) }

    /// Lists a session as one that nobody speaks for.
    private func wait(_ session: Session) {
        // because it may have had its first action since it was listed
        left.remove(session.client)
        leftOf[session.uid]?.remove(session.client)
        left.append(session.client, isBlank: session.isBlank && !session.isStored)
        leftOf[session.uid, default: LeftSessions()].append(
            session.client, isBlank: session.isBlank && !session.isStored)
    }

    private func unlist(_ session: Session) {
        left.remove(session.client)
        leftOf[session.uid]?.remove(session.client)
        if leftOf[session.uid]?.isEmpty ?? false { leftOf[session.uid] = nil }
        leftBytes -= session.weighedBytes
        session.weighedBytes = 0
    }

    /// Makes the session again that a snapshot knows of.
    func restore(_ saved: SavedSession, _ limits: ServerLimits) {
        restore(client: saved.client, secret: saved.secret, uid: saved.uid)
        byClient[saved.client]?.restore(saved, limits)
    }

    /// Remembers again which sessions had ended.
    func restore(_ sessions: [EndedSession], forgottenUpTo sequence: UInt64?) {
        for session in sessions { ended.note(session.secret, at: session.sequence) }
        if let sequence { ended.forget(upTo: sequence) }
    }

    /// Takes a session out for good, when `sequence` is the last transaction.
    func end(_ session: Session, at sequence: UInt64) {
        remove(session)
        // because one without actions may be taken up again
        if session.isStored || !session.isBlank { ended.note(session.secret, at: sequence) }
    }

    /// The sessions that a journal knows of, in the order in which they were left.
    var stored: [Session] {
        left.all.compactMap { byClient[$0] }.filter(\.isStored)
            + byClient.values.filter { $0.isStored && $0.connection != nil }
            .sorted { $0.client < $1.client }
    }

    /// All of them, those that began first in front. *Cost*: sorts them.
    var all: [Session] { sessions.values.sorted { $0.client < $1.client } }

    /// The highest number that a client had.
    var lastNumber: UInt64 { lastClient }

    /// Takes note that clients had numbers up to this one.
    func skip(to client: UInt64) { lastClient = max(lastClient, client) }

    /// Ends the connections that all of them had.
    func endFormerConnections(_ limits: ServerLimits) {
        for session in byClient.values {
            session.endConnection(limits)
            session.noteStart()
            session.weighedBytes = session.outcomeBytes
            leftBytes += session.weighedBytes
        }
    }

    /// Takes note that a session's connection ended, at `now`.
    func leave(_ session: Session, at now: UInt64) {
        session.connection = nil
        session.disconnectedAt = now
        wait(session)
    }

    /// Counts the outcomes of a session that was left; where all of them together are more than
    /// `bytesMax`, evicts those with the most. *Answers* as ``make(uid:secret:at:)`` does.
    func weigh(
        _ session: Session, bytesMax: Int, at sequence: UInt64
    ) -> [Session] {
        var evicted: [Session] = []
        guard session.connection == nil, byClient[session.client] === session else { return [] }
        leftBytes += session.outcomeBytes - session.weighedBytes
        session.weighedBytes = session.outcomeBytes
        while leftBytes > bytesMax,
            let largest = byClient.values.max(by: {
                ($0.weighedBytes, $1.client) < ($1.weighedBytes, $0.client)
            }), largest.weighedBytes > 0
        {
            evict(largest, at: sequence, into: &evicted)
        }
        return evicted
    }

    /// Takes note that a connection speaks for a session.
    func join(_ session: Session, _ connection: Connection) {
        session.connection = connection
        unlist(session)
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

    /// Forgets sessions without actions whose connection ended before `time`: their clients may
    /// have sent some that never arrived, and are given a while to come back with them.
    func forgetBlank(before time: UInt64) {
        while let client = left.firstBlank, let session = byClient[client],
            session.disconnectedAt < time
        {
            remove(session)
        }
    }
}

/// Sessions that no connection speaks for, those that were left first in front.
struct LeftSessions {
    private var used = ArrivalOrder<UInt64>()
    private var blank = ArrivalOrder<UInt64>()

    var isEmpty: Bool { used.isEmpty && blank.isEmpty }
    /// Who makes room first: one without actions, because nothing is lost with it.
    var first: UInt64? { blank.first ?? used.first }
    /// The first without actions.
    var firstBlank: UInt64? { blank.first }
    /// All of them; those without actions last.
    var all: [UInt64] { used.all + blank.all }

    mutating func append(_ client: UInt64, isBlank: Bool) {
        if isBlank { blank.append(client) } else { used.append(client) }
    }

    mutating func remove(_ client: UInt64) {
        used.remove(client)
        blank.remove(client)
    }
}
