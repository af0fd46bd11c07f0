import ReactorCore

// MARK: - Proof
extension Mirror {
    /// Has the daemon say what this mirror must hold, and compares; true if it holds that.
    ///
    ///     if try await !visits.verify() { log("a mirror had gone wrong, and was mended") }
    ///
    /// One that does not holds a mistake: memory that failed, or a `reduce` that does not do here
    /// what it does in the daemon. It starts anew with a snapshot, and shows that when this returns
    /// false; ``ClientStatistics/resynchronisations`` counts it and ``news`` tells of it.
    ///
    /// *Throws*: ``ClientError/notComparable(path:)`` where the mirror follows the value: it runs no
    /// `reduce` there. *Cost*: both sides encode all of the node's state, on their loops.
    public func verify() async throws(ClientError) -> Bool {
        guard let port else { throw .notComparable(path: path) }
        return try await port.ask { [self] client, then in client.verify(self, then: then) }
    }
}

// MARK: - News
extension Mirror {
    /// What happens to this mirror's client, and answers no call: see ``Client/notices``.
    public var news: ClientNotices { ClientNotices(feed: board.news) }
}
