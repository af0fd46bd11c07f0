/// What the server keeps at a moment: the figures that its limits are about.
///
/// *Place*: the answer to ``Ask/stats`` has some of them; a simulation compares them with the
/// limits after every step. *Cost*: O(connections and sessions, and what they have queued).
public struct ServerMemory: Equatable, Sendable {
    /// Connections that are open.
    public var connections = 0
    /// Connections that have not said hello, though their sockets were read.
    public var silentConnections = 0
    /// Sessions, connected or remembered.
    public var sessions = 0
    /// Slices that somebody is subscribed to.
    public var slices = 0
    /// Subscriptions to them.
    public var subscriptions = 0
    /// Bytes that all connections keep alive: buffers that their queues point into, and input.
    public var keptBytes = 0
    /// The most that one connection keeps alive.
    public var keptBytesOfOne = 0
    /// The most updates that one connection has queued, in bytes.
    public var updateBytesOfOne = 0
    /// The most outcomes and answers that one connection has queued, in bytes.
    public var controlBytesOfOne = 0
    /// The most input that one connection has waiting, in bytes.
    public var inputBytesOfOne = 0
    /// The most outcomes remembered for one session, as runs and exceptions.
    public var outcomesOfOne = 0
    /// The most actions of one session whose client waits for the end of their effects.
    public var awaitedOfOne = 0
    /// Bytes of turns that wait for the journal.
    public var unreleasedBytes = 0
    /// The most bytes of one connection's actions that have no outcome yet.
    public var inFlightBytesOfOne = 0
    /// Recent deltas kept for clients that come back.
    public var ringBytes = 0
    /// Encoded snapshots kept for the next who asks.
    public var snapshotBytes = 0
    /// Large answers that are under way, each counted once.
    public var answerBytes = 0

    /// Nothing at all.
    public init() {}
}

extension Server {
    /// What the server keeps now.
    public var memory: ServerMemory {
        var memory = ServerMemory()
        memory.connections = connections.count
        memory.sessions = sessions.count
        memory.slices = slices.count
        memory.subscriptions = users.total.subscriptions
        for connection in connections.values {
            let keptBytes = connection.keptBytes
            memory.keptBytes += keptBytes
            memory.keptBytesOfOne = max(memory.keptBytesOfOne, keptBytes)
            memory.updateBytesOfOne = max(memory.updateBytesOfOne, connection.queuedUpdateBytes)
            memory.controlBytesOfOne = max(memory.controlBytesOfOne, connection.queuedControlBytes)
            memory.inFlightBytesOfOne = max(
                memory.inFlightBytesOfOne, connection.inFlightBytes)
            memory.inputBytesOfOne = max(memory.inputBytesOfOne, connection.partial.count)
            // because a newcomer goes when its socket was read, not before
            if connection.stage == .greeting, !connection.isClosing,
                connection.connectedTurn &+ 1 < endedTurns
            {
                memory.silentConnections += 1
            }
        }
        memory.outcomesOfOne = sessions.outcomesOfOne
        memory.awaitedOfOne = sessions.awaitedOfOne
        memory.unreleasedBytes = unreleasedBytes
        memory.ringBytes = ring.byteCount
        memory.snapshotBytes = slices.cachedBytes
        memory.answerBytes = answers.byteCount
        return memory
    }
}
