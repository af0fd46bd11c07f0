import DequeModule
import ReactorBytes

/// Connections that get updates alone, in the order in which they are served.
///
/// A turn serves ``flushesPerTurnMax`` of them, so that a client that dispatches goes on at once
/// however many watch. The updates of the next turns join those that wait, and leave with them in one
/// write.
///
/// *Place*: the server adds the connections of a released turn that have nothing urgent. *Shape*: a
/// connection is in the queue exactly while its ``Outlet/isListed`` is true.
struct UpdateQueue: ~Copyable {
    private var waiting = Deque<Connection>()
    /// Connections that the current turn may still serve.
    private var flushesLeft = 0

    /// Connections that get their updates in one turn, beside those with something urgent.
    static let flushesPerTurnMax = 8

    /// Whether no connection waits.
    var isEmpty: Bool { waiting.isEmpty }

    /// Whether one more connection would wait for a later turn.
    var isFull: Bool { waiting.count >= Self.flushesPerTurnMax }

    /// Lets another turn serve connections.
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

    /// What holds between two verbs; checked in debug builds.
    @inline(__always)
    private func invariants() {
        assert(flushesLeft >= 0 && flushesLeft <= Self.flushesPerTurnMax, "\(flushesLeft) are left")
        assert(
            waiting.first?.outlet.value.isListed ?? true
                && waiting.last?.outlet.value.isListed ?? true,
            "a connection waits for updates and does not know it")
    }
}
