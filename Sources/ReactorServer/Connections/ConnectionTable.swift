/// The open connections, by number.
///
/// *Place*: the shell names a connection by its ``ConnectionID``; every call of the server looks it up
/// once and passes the ``Connection`` on. *Cost*: O(1); the connection that was looked up last costs
/// one comparison.
final class ConnectionTable {
    private var byID: [ConnectionID: Connection] = [:]
    /// The connection that was looked up last.
    private var last: Connection?

    /// Number of connections.
    var count: Int { byID.count }

    /// Whether there is none.
    var isEmpty: Bool { byID.isEmpty }

    /// All connections, in no order.
    var values: Dictionary<ConnectionID, Connection>.Values { byID.values }

    /// All connections, the oldest first. *Cost*: sorts them.
    var inOrder: [Connection] { byID.values.sorted { $0.id.rawValue < $1.id.rawValue } }

    /// The connection of this number.
    subscript(id: ConnectionID) -> Connection? {
        if let last, last.id == id { return last }
        guard let found = byID[id] else { return nil }
        last = found
        return found
    }

    /// Adds a connection.
    func insert(_ connection: Connection) {
        precondition(
            byID.updateValue(connection, forKey: connection.id) == nil,
            "connection \(connection.id.rawValue) is inserted twice")
        invariants()
    }

    /// Removes the connection of this number and answers it.
    func remove(_ id: ConnectionID) -> Connection? {
        if last?.id == id { last = nil }
        defer { invariants() }
        return byID.removeValue(forKey: id)
    }

    /// What holds between two verbs; checked in debug builds.
    @inline(__always)
    private func invariants() {
        assert(last.map { byID[$0.id] === $0 } ?? true, "a removed connection can be looked up")
    }
}
