import ReactorBytes

/// The open connections, by number.
///
/// *Place*: the shell names a connection by its ``ConnectionID``; every call of the server looks it up
/// once and passes the ``Connection`` on. ``ReferenceTable`` states the invariants. *Cost*: O(1).
final class ConnectionTable {
    private let table = Cell(ReferenceTable<Connection>())

    /// Number of connections that other daemons have.
    private(set) var remoteCount = 0

    /// Number of this daemon's connections.
    var count: Int { table.value.count - remoteCount }

    /// The connections that other daemons have, in no order.
    var remotes: [Connection] { remoteCount == 0 ? [] : values.filter(\.isRemote) }

    /// Whether there is none.
    var isEmpty: Bool { table.value.isEmpty }

    /// All connections, in no order.
    var values: [Connection] { table.value.objects }

    /// All connections, the oldest first. *Cost*: sorts them.
    var inOrder: [Connection] { values.sorted { $0.id.rawValue < $1.id.rawValue } }

    /// The connection of this number.
    subscript(id: ConnectionID) -> Connection? { table.value[id.rawValue] }

    /// Calls `visit` with the connection of this number, if there is one; it must not be removed
    /// during the call.
    @inline(__always)
    func with(_ id: ConnectionID, _ visit: (Connection) -> Void) {
        table.value.with(id.rawValue, visit)
    }

    /// Adds a connection.
    func insert(_ connection: Connection) {
        precondition(
            table.value.insert(connection, at: connection.id.rawValue) == nil,
            "connection \(connection.id.rawValue) is inserted twice")
        if connection.isRemote { remoteCount += 1 }
    }

    /// Sets the supplementary groups of each peer, and its class for them.
    func join(_ groups: (ConnectionID) -> [UInt32], _ access: (Peer) -> AccessClass?) {
        for connection in values { connection.join(groups, access) }
    }

    /// Removes the connection of this number and answers it.
    func remove(_ id: ConnectionID) -> Connection? {
        let connection = table.value.remove(at: id.rawValue)
        if connection?.isRemote ?? false { remoteCount -= 1 }
        return connection
    }
}
