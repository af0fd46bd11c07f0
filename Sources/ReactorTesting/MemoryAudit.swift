public import ReactorServer

/// Compares what a server keeps with what its limits allow.
public struct MemoryAudit: Sendable {
    /// The limits that are to hold.
    public var limits: ServerLimits
    /// Bytes of all states together, encoded: the most that snapshots of everything can take.
    public var stateBytesMax: Int
    /// Bytes of one turn's deltas and outcomes at most.
    public var turnBytesMax: Int

    /// Makes an audit against `limits`.
    public init(_ limits: ServerLimits, stateBytesMax: Int, turnBytesMax: Int) {
        self.limits = limits
        self.stateBytesMax = stateBytesMax
        self.turnBytesMax = turnBytesMax
    }

    /// What is above its limit, in words; nothing if all is well.
    public func findings(_ memory: ServerMemory) -> [String] {
        // because a turn is let in whole, and snapshots replace what was dropped: a budget may be
        // exceeded by one turn and one snapshot of each slice
        let updateBytesMax = limits.queueBytesMax + turnBytesMax + stateBytesMax
        let controlBytesMax = limits.undrainedBytesMax + turnBytesMax
        let inputBytesMax = limits.frameBytesMax + Self.readBytesMax
        let rows = [
            ("connections", memory.connections, limits.connectionsMax + limits.handshakesMax),
            ("silent connections", memory.silentConnections, limits.handshakesMax),
            ("sessions", memory.sessions, max(limits.sessionsMax, memory.connections)),
            ("slices", memory.slices, memory.subscriptions),
            (
                "subscriptions", memory.subscriptions,
                memory.connections * limits.subscriptionsPerConnectionMax
            ),
            ("update bytes of one connection", memory.updateBytesOfOne, updateBytesMax),
            ("control bytes of one connection", memory.controlBytesOfOne, controlBytesMax),
            ("input bytes of one connection", memory.inputBytesOfOne, inputBytesMax),
            (
                "kept bytes of one connection", memory.keptBytesOfOne,
                // because a piece may keep a buffer four times its size alive
                4 * (updateBytesMax + controlBytesMax) + inputBytesMax
            ),
            ("outcomes of one session", memory.outcomesOfOne, limits.outcomesPerSessionMax),
            ("awaited actions of one session", memory.awaitedOfOne, limits.inFlightMax),
            (
                "bytes of one connection's actions in flight", memory.inFlightBytesOfOne,
                limits.inFlightBytesMax + inputBytesMax
            ),
            ("answer bytes", memory.answerBytes, limits.answersBytesMax + stateBytesMax),
            ("ring bytes", memory.ringBytes, limits.ringBytesMax),
            (
                "snapshot bytes", memory.snapshotBytes,
                max(limits.snapshotCacheBytesMax, stateBytesMax)
            ),
        ]
        return rows.filter { $0.1 > $0.2 }.map { "\($0.0): \($0.1), at most \($0.2)" }
    }

    /// Bytes of one read, which are taken in before anything is held back.
    static let readBytesMax = 64 << 10
}
