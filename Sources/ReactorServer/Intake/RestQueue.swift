import ReactorBytes

/// Connections that have sent their share of a turn. Their input is handled again at the end of the
/// next turn.
///
/// *Place*: the server adds a connection that sent ``ServerLimits/framesPerTurnMax`` frames in a
/// turn, or whose user has used its ``ServerLimits/turnTimePerUID``. *Shape*: a connection is in the
/// queue exactly while its ``Inlet/state`` is `resting`, unless it was closed. Connections that had
/// no input handled in the turn come before those that had, so that those of one user take turns.
struct RestQueue: ~Copyable {
    /// Number of ended turns, including those without output.
    private(set) var endedTurns: UInt64 = 0
    /// Connections that sent their share since the last turn ended.
    private var spent: [Connection] = []
    /// Connections that sent it earlier; their input is handled when the current turn ends.
    private var rested: [Connection] = []
    /// Connections whose input was not handled in this turn: their user had used its time before.
    private var postponed: [Connection] = []

    /// Whether a connection has sent its share, or was postponed, since the last turn ended.
    var hasSpent: Bool { !spent.isEmpty || !postponed.isEmpty }

    /// Whether connections are read at the end of the current turn.
    var hasRested: Bool { !rested.isEmpty }

    /// Adds a connection that has sent its share; returns whether its frames were handled before.
    mutating func list(_ connection: Connection) -> Bool {
        spent.append(connection)
        return connection.inlet.value.rest()
    }

    /// Adds a connection whose input is not handled in this turn, before those that have sent their
    /// share; returns whether its frames were handled before.
    mutating func postpone(_ connection: Connection) -> Bool {
        postponed.append(connection)
        return connection.inlet.value.rest()
    }

    /// Ends a turn. Returns the open connections whose rest has ended, which are awake; nil if none
    /// rested.
    mutating func endTurn() -> [Connection]? {
        endedTurns &+= 1
        if rested.isEmpty { return nil }
        let due = rested.filter { !$0.isClosed }
        rested = []
        for connection in due { connection.inlet.value.wake() }
        return due
    }

    /// Begins a turn, after the input of the connections from ``endTurn()`` was handled.
    mutating func beginTurn() {
        if spent.isEmpty, postponed.isEmpty, rested.isEmpty { return }
        rested = postponed + spent
        (postponed, spent) = ([], [])
        invariants()
    }

    /// Checks the invariants at the beginning of a turn, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            rested.allSatisfy { $0.isClosed || $0.inlet.value.state == .resting },
            "a connection is read from that has had its share")
    }
}
