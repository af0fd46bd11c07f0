package import ReactorServer

/// Compares the memory of a server with its limits.
package struct MemoryAudit: Sendable {
    /// The limits to check.
    package var limits: ServerLimits
    /// Size of all encoded states together in bytes, the maximum of a snapshot of everything.
    package var stateBytesMax: Int
    /// Maximum size in bytes of one turn's deltas and outcomes.
    package var turnBytesMax: Int

    /// Creates an audit against `limits`.
    package init(_ limits: ServerLimits, stateBytesMax: Int, turnBytesMax: Int) {
        self.limits = limits
        self.stateBytesMax = stateBytesMax
        self.turnBytesMax = turnBytesMax
    }

    /// Returns a text for each value above its limit.
    package func findings(_ memory: ServerMemory) -> [String] {
        // The server accepts a whole turn and replaces dropped updates by snapshots, so a budget
        // may be exceeded by one turn and one snapshot of each slice.
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
                // A segment may keep a buffer of four times its size alive.
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

    /// Bytes of one read, which the server accepts before it pauses a connection.
    static let readBytesMax = 64 << 10
}
