/// All sessions, of connected clients and of those that may come back.
struct SessionTable {
    private var sessions: [[UInt8]: Session] = [:]
    private var byClient: [UInt64: Session] = [:]
    private var lastClient: UInt64 = 0
    let sessionsMax: Int

    init(sessionsMax: Int) { self.sessionsMax = sessionsMax }

    var count: Int { sessions.count }

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

    mutating func remove(_ session: Session) {
        sessions[session.secret] = nil
        byClient[session.client] = nil
    }

    private mutating func evictOne() {
        let idle = sessions.values.filter { $0.connection == nil }
        // because a session that has seen no action keeps no outcome: its client loses the least
        let blank = idle.filter(\.isBlank)
        let candidates = blank.isEmpty ? idle : blank
        if let oldest = candidates.min(by: { $0.disconnectedAt < $1.disconnectedAt }) {
            remove(oldest)
        }
    }
}
