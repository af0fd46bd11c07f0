import ReactorBytes

/// Connections that have had their share of a turn; they are read on when another turn has ended.
///
/// *Place*: the server adds a connection that sent ``ServerLimits/framesPerTurnMax`` frames in a turn.
/// *Shape*: a connection is in the queue exactly while its ``Inlet/state`` is `resting`, unless it has
/// been closed since.
struct RestQueue: ~Copyable {
    /// Turns that were ended, those without outputs included.
    private(set) var endedTurns: UInt64 = 0
    /// Connections that had their share since the last turn ended.
    private var spent: [Connection] = []
    /// Connections that had it before, and are read on when the current turn ends.
    private var rested: [Connection] = []

    /// Whether a connection had its share since the last turn ended.
    var hasSpent: Bool { !spent.isEmpty }

    /// Whether the end of the current turn reads on from a connection.
    var hasRested: Bool { !rested.isEmpty }

    /// Lists a connection that has had its share; answers whether its frames were handled until now.
    mutating func list(_ connection: Connection) -> Bool {
        spent.append(connection)
        return connection.inlet.value.rest()
    }

    /// Ends a turn; answers the connections that are read on, each of which is awake.
    mutating func endTurn() -> [Connection] {
        endedTurns &+= 1
        if rested.isEmpty { return [] }
        let due = rested.filter { !$0.isClosed }
        rested = []
        for connection in due { connection.inlet.value.wake() }
        return due
    }

    /// Begins a turn, behind the reading of ``endTurn()``.
    mutating func beginTurn() {
        if spent.isEmpty, rested.isEmpty { return }
        rested = spent
        spent = []
        invariants()
    }

    /// What holds when a turn begins; checked in debug builds.
    @inline(__always)
    private func invariants() {
        assert(
            rested.allSatisfy { $0.isClosed || $0.inlet.value.state == .resting },
            "a connection is read from that has had its share")
        assert(spent.isEmpty, "\(spent.count) connections had their share of a turn that begins")
    }
}
