/// All sessions, of connected clients and of clients that may reconnect.
///
/// *Shape*: a session is in ``LeftSessions`` exactly while it has no connection; a new session is
/// in neither state until ``join(_:_:)``. ``invariants()`` states the invariants. *Cost*: amortized
/// O(1) for every operation, unless noted.
final class SessionTable {
    private var sessions: [[UInt8]: Session] = [:]
    private var byClient: [UInt64: Session] = [:]
    private var numbers = ClientNumbers()
    /// The number up to which a snapshot says that numbers are in use.
    private var reserved: UInt64 = 0
    /// Clients whose session has no connection.
    private var left = LeftSessions()
    /// The same clients by uid.
    private var leftOf: [UInt32: LeftSessions] = [:]
    /// Number of sessions of each uid.
    private var counts: [UInt32: Int] = [:]
    /// Bytes of outcomes of sessions without a connection.
    private(set) var leftBytes = 0
    /// Sessions with actions that have ended.
    private(set) var ended = EndedSessions()
    /// Maximum number of sessions; above it a disconnected one is evicted.
    private(set) var sessionsMax: Int
    /// Maximum number of sessions of one uid; above it one of them is evicted.
    private(set) var perUIDMax: Int
    /// Whether sessions that the history has may be evicted here. While another daemon leads, only
    /// its rows end them.
    private var evictsStored = true

    init(sessionsMax: Int, perUIDMax: Int = .max) {
        self.sessionsMax = sessionsMax
        self.perUIDMax = perUIDMax
    }

    /// Applies other limits from the next new session on.
    func setLimits(_ limits: ServerLimits) {
        sessionsMax = limits.sessionsMax
        perUIDMax = limits.sessionsPerUIDMax
    }

    var count: Int { sessions.count }
    /// The maximum number of outcomes that one session remembers. *Cost*: O(sessions).
    var outcomesOfOne: Int { sessions.values.map(\.outcomeCount).max() ?? 0 }
    /// The maximum number of one session's actions whose effects a client awaits. *Cost*:
    /// O(sessions).
    var awaitedOfOne: Int { sessions.values.map(\.awaitedCount).max() ?? 0 }

    /// The session with a secret, if its user is `uid`; other users must not learn that it exists.
    func find(_ secret: [UInt8], uid: UInt32) -> Session? {
        guard let session = sessions[secret], session.uid == uid else { return nil }
        return session
    }

    /// Whether a session of any user has this secret.
    func isKnown(_ secret: [UInt8]) -> Bool { sessions[secret] != nil }

    func find(client: UInt64) -> Session? { byClient[client] }

    // MARK: Daemons of a cluster

    /// Numbers further clients as those of the daemon `node`, and evicts no session that the history
    /// has, until ``lead(_:keeping:)``.
    func numberClients(as node: UInt8) {
        evictsStored = false
        numbers = ClientNumbers(of: node)
        numbers.skip(to: reserved)
        for client in byClient.keys { numbers.skip(to: client) }
    }

    /// Evicts sessions again, and ends the connections of all sessions but those of `clients`.
    /// Returns the actions whose answers ended sessions waited for, in order.
    func lead(
        _ limits: ServerLimits, keeping clients: Set<UInt64>
    ) -> [(session: Session, ordinal: UInt64)] {
        evictsStored = true
        let ended = all.filter { !clients.contains($0.client) }
        let waits = ended.flatMap { session in
            session.deferred.sorted().map { (session: session, ordinal: $0) }
        }
        endFormerConnections(limits, except: clients)
        return waits
    }

    /// The sessions without a connection that have last acted at the daemon `node`. *Cost*:
    /// O(sessions).
    func absent(of node: UInt8) -> [Session] {
        all.filter { $0.connection == nil && $0.source?.node == node }
    }

    /// Whether a session may be evicted here.
    func mayEvict(_ session: Session) -> Bool { evictsStored || !session.isStored }

    // MARK: New sessions

    /// Creates a session. If there are too many of the uid, or in all, evicts those that have been
    /// disconnected longest. `sequence` is that of the last transaction.
    ///
    /// Returns the session, and the evicted sessions that the journal has.
    func make(
        uid: UInt32, secret: [UInt8], at sequence: UInt64
    ) -> (Session, evicted: [Session]) {
        let evicted = makeRoom(for: uid, at: sequence)
        let session = Session(secret: secret, uid: uid, client: numbers.next())
        insert(session)
        invariants()
        return (session, evicted)
    }

    /// Adds the session that another daemon has created for its client `client`, as ``make(uid:secret:at:)``
    /// does. Returns the evicted sessions that the journal has.
    func adopt(
        client: UInt64, uid: UInt32, secret: [UInt8], at sequence: UInt64
    ) -> [Session] {
        let evicted = makeRoom(for: uid, at: sequence)
        restoreBlank(client: client, secret: secret, uid: uid)
        invariants()
        return evicted
    }

    private func makeRoom(for uid: UInt32, at sequence: UInt64) -> [Session] {
        var evicted: [Session] = []
        while counts[uid] ?? 0 >= perUIDMax, let client = leftOf[uid]?.first,
            let session = byClient[client], mayEvict(session)
        {
            evict(session, at: sequence, into: &evicted)
        }
        while sessions.count >= sessionsMax, let client = left.first,
            let session = byClient[client], mayEvict(session)
        {
            evict(session, at: sequence, into: &evicted)
        }
        return evicted
    }

    private func insert(_ session: Session) {
        counts[session.uid, default: 0] += 1
        byClient[session.client] = session
        // A snapshot may contain a later session with this secret.
        if let other = sessions[session.secret], other.client > session.client { return }
        sessions[session.secret] = session
    }

    /// Restores a session that the journal has.
    func restore(client: UInt64, secret: [UInt8], uid: UInt32) {
        numbers.skip(to: client)
        if let known = byClient[client] {
            // A following daemon has given the session to the client itself.
            known.markStored()
            return touch(known)
        }
        let session = Session(secret: secret, uid: uid, client: client)
        session.markStored()
        insert(session)
        list(session)
    }

    /// Restores a session of a former process that had no action.
    func restoreBlank(client: UInt64, secret: [UInt8], uid: UInt32) {
        guard byClient[client] == nil, sessions[secret] == nil else { return }
        numbers.skip(to: client)
        let session = Session(secret: secret, uid: uid, client: client)
        insert(session)
        list(session)
    }

    /// Records that a session of an earlier run had another action: it disconnected later than
    /// others.
    func touch(_ session: Session) { if session.connection == nil { list(session) } }

    /// Lists a session without a connection.
    private func list(_ session: Session) {
        // It may have had its first action since it was last listed.
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

    /// Restores a session from a snapshot.
    func restore(_ saved: SavedSession, _ limits: ServerLimits) {
        restore(client: saved.client, secret: saved.secret, uid: saved.uid)
        byClient[saved.client]?.restore(saved, limits.outcomes)
    }

    /// Restores the ended sessions.
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

    /// The sessions that the journal has, in the order of their disconnects.
    var stored: [Session] {
        left.all.compactMap { byClient[$0] }.filter(\.isStored)
            + byClient.values.filter { $0.isStored && $0.connection != nil }
            .sorted { $0.client < $1.client }
    }

    /// All sessions, in no order.
    var values: some Collection<Session> { byClient.values }

    /// All sessions, the oldest first. *Cost*: sorts them.
    var all: [Session] { sessions.values.sorted { $0.client < $1.client } }

    /// The highest number of a client.
    var lastNumber: UInt64 { numbers.last }

    /// Reserves client numbers up to this one.
    func skip(to client: UInt64) {
        reserved = max(reserved, client)
        numbers.skip(to: client)
    }

    /// Ends the connections of sessions of an earlier run, except those of `clients`.
    func endFormerConnections(_ limits: ServerLimits, except clients: Set<UInt64> = []) {
        for session in byClient.values where !clients.contains(session.client) {
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

    /// Counts the outcomes of a disconnected session. If the sum exceeds `bytesMax`, evicts the
    /// sessions with the most. Returns the evicted sessions that the journal has.
    func weigh(
        _ session: Session, bytesMax: Int, at sequence: UInt64
    ) -> [Session] {
        var evicted: [Session] = []
        guard session.connection == nil, byClient[session.client] === session else { return [] }
        leftBytes += session.weigh()
        while evictsStored, leftBytes > bytesMax,
            let largest = byClient.values.max(by: {
                ($0.weighedBytes, $1.client) < ($1.weighedBytes, $0.client)
            }), largest.weighedBytes > 0
        {
            evict(largest, at: sequence, into: &evicted)
        }
        invariants()
        return evicted
    }

    /// The disconnected session of a uid with the most bytes of outcomes; nil if none has any.
    /// *Cost*: O(disconnected sessions of the uid).
    func heaviestLeft(of uid: UInt32) -> Session? {
        let sessions = (leftOf[uid]?.all ?? []).compactMap { byClient[$0] }.filter(mayEvict)
        let heaviest = sessions.max {
            ($0.weighedBytes, $1.client) < ($1.weighedBytes, $0.client)
        }
        return heaviest?.weighedBytes ?? 0 > 0 ? heaviest : nil
    }

    /// Assigns a connection to a session.
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

    /// Drops sessions without actions whose connection ended before `time`. Until then, their
    /// clients may send lost actions again.
    func forgetBlank(before time: UInt64) {
        while let client = left.firstBlank, let session = byClient[client],
            session.disconnectedAt < time
        {
            remove(session)
        }
        invariants()
    }

    /// Checks the invariants, in debug builds; the sums only of a small table.
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

/// The numbers that a daemon gives its clients.
///
/// *Shape*: the number of the daemon in its cluster times 2⁴⁵, plus a counter. A daemon that is
/// alone is number 0.
struct ClientNumbers {
    /// The last number of the daemon.
    private(set) var last: UInt64
    private let end: UInt64

    /// Bits of the counter: with 8 bits for the daemon, a number is exact in every JSON reader.
    private static let counterBits: UInt64 = 45

    init(of node: UInt8 = 0) {
        last = UInt64(node) << Self.counterBits
        end = last + 1 << Self.counterBits
    }

    /// The next number.
    mutating func next() -> UInt64 {
        last += 1
        return last
    }

    /// Gives out no number up to `client`, if that is one of this daemon.
    mutating func skip(to client: UInt64) {
        if client > last, client < end { last = client }
    }
}

/// Sessions without a connection, in the order of their disconnects.
struct LeftSessions {
    private var used = ArrivalOrder<UInt64>()
    private var blank = ArrivalOrder<UInt64>()

    var isEmpty: Bool { used.isEmpty && blank.isEmpty }
    /// The client whose session is evicted first: one without actions, as its loss costs nothing.
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
