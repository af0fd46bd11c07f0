import DequeModule
import ReactorBytes

/// Connections whose output is only updates, in the order in which they are served.
///
/// A turn serves ``flushesPerTurnMax`` of them, so that a client that dispatches does not wait for
/// all watchers. The updates of later turns join the waiting ones, and leave with them in one
/// write.
///
/// *Place*: the server adds the connections of a released turn that have no urgent output. *Shape*:
/// a connection is in the queue exactly while its ``Outlet/isListed`` is true.
struct UpdateQueue: ~Copyable {
    private var waiting = UniqueDeque<Connection>()
    /// Number of connections that the current turn may still serve.
    private var flushesLeft = 0

    /// Number of connections with only updates that one turn serves, besides those with urgent
    /// output.
    static let flushesPerTurnMax = 8

    /// Whether no connection waits.
    var isEmpty: Bool { waiting.isEmpty }

    /// Whether a further connection would wait for a later turn.
    var isFull: Bool { waiting.count >= Self.flushesPerTurnMax }

    /// Allows the turn its share of connections.
    mutating func beginTurn() { flushesLeft = Self.flushesPerTurnMax }

    /// Lists a connection, unless it is listed.
    mutating func list(_ connection: Connection) {
        if connection.outlet.value.enterUpdateQueue() { waiting.append(connection) }
        invariants()
    }

    /// Takes the next connection, if the turn may still serve one.
    mutating func next() -> Connection? {
        guard flushesLeft > 0, let connection = waiting.popFirst() else { return nil }
        flushesLeft -= 1
        connection.outlet.value.leaveUpdateQueue()
        invariants()
        return connection
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(flushesLeft >= 0 && flushesLeft <= Self.flushesPerTurnMax, "\(flushesLeft) are left")
        assert(
            waiting.isEmpty
                || waiting[0].outlet.value.isListed
                    && waiting[waiting.count - 1].outlet.value.isListed,
            "a connection waits for updates and does not know it")
    }
}
