import ReactorBytes
import ReactorCore

/// The amounts that the server keeps at a moment. The server's limits bound each of them.
///
/// *Place*: the answer to ``Question/stats`` has some of them; a simulation compares them with the
/// limits after every step. *Cost*: O(connections and sessions, and what they have queued).
package struct ServerMemory: Equatable, Sendable {
    /// Connections that are open.
    package var connections = 0
    /// Connections that have not sent a hello although their sockets were read.
    package var silentConnections = 0
    /// Sessions, connected or remembered.
    package var sessions = 0
    /// Slices with a subscription.
    package var slices = 0
    /// Subscriptions of all connections.
    package var subscriptions = 0
    /// Nodes that clients have open and that a transaction can remove.
    package var openNodes = 0
    /// Bytes that all connections keep alive: input, and buffers that their queues refer to.
    package var keptBytes = 0
    /// The maximum that one connection keeps alive, in bytes.
    package var keptBytesOfOne = 0
    /// The maximum of one connection's queued updates, in bytes.
    package var updateBytesOfOne = 0
    /// The maximum of one connection's queued outcomes and answers, in bytes.
    package var controlBytesOfOne = 0
    /// The maximum of one connection's waiting input, in bytes.
    package var inputBytesOfOne = 0
    /// The maximum number of outcomes remembered for one session, as runs and exceptions.
    package var outcomesOfOne = 0
    /// The maximum number of one session's actions whose client waits for the end of their effects.
    package var awaitedOfOne = 0
    /// Bytes of turns that wait for the journal.
    package var unreleasedBytes = 0
    /// The maximum of one connection's actions without an outcome, in bytes.
    package var inFlightBytesOfOne = 0
    /// Bytes of recent deltas, kept for clients that reconnect.
    package var ringBytes = 0
    /// Bytes of encoded snapshots, kept for further subscribers.
    package var snapshotBytes = 0
    /// Approximate bytes of the sort keys of selected children.
    package var selectedBytes = 0
    /// Bytes of large answers in progress, each counted once.
    package var answerBytes = 0

    /// All zero.
    package init() {}
}

/// Reads the amounts that the server's parts keep. It has no state.
///
/// *Place*: ``Server/memory`` and the answer to ``Question/stats``.
struct ServerMeter {
    let tree: Tree
    let orders: ShellOrders
    let dispatcher: Dispatcher
    let connections: ConnectionTable
    let sessions: SessionTable
    let chronicle: Chronicle
    let delivery: Delivery
    let openNodes: OpenNodes
    let sharing: SliceSharing
    let subscriptions: Subscriptions
    let states: StateCeiling
    let room: MemoryGrants

    /// The amounts now. `answerByteCount` is the size of the large answers, `endedTurns` the number
    /// of ended turns.
    func memory(answerByteCount: Int, endedTurns: UInt64) -> ServerMemory {
        var memory = ServerMemory()
        memory.connections = connections.count
        memory.sessions = sessions.count
        memory.slices = sharing.sliceCount
        memory.subscriptions = subscriptions.count
        memory.openNodes = openNodes.count
        for connection in connections.values { count(connection, endedTurns, in: &memory) }
        memory.outcomesOfOne = sessions.outcomesOfOne
        memory.awaitedOfOne = sessions.awaitedOfOne
        memory.unreleasedBytes = delivery.unreleasedByteCount
        memory.ringBytes = subscriptions.ringByteCount
        memory.snapshotBytes = sharing.cachedByteCount
        memory.selectedBytes = sharing.selectedByteCount
        memory.answerBytes = answerByteCount
        return memory
    }

    private func count(
        _ connection: Connection, _ endedTurns: UInt64, in memory: inout ServerMemory
    ) {
        let keptBytes = connection.keptBytes
        memory.keptBytes += keptBytes
        memory.keptBytesOfOne = max(memory.keptBytesOfOne, keptBytes)
        memory.updateBytesOfOne = max(
            memory.updateBytesOfOne, connection.outlet.value.updateByteCount)
        memory.controlBytesOfOne = max(
            memory.controlBytesOfOne, connection.outlet.value.controlByteCount)
        memory.inFlightBytesOfOne = max(
            memory.inFlightBytesOfOne, connection.outlet.value.inFlight.byteCount)
        memory.inputBytesOfOne = max(
            memory.inputBytesOfOne, connection.inlet.value.heldByteCount)
        // The server closes a new connection only after its socket was read.
        if connection.isGreeting, connection.wasRead(endedTurns) { memory.silentConnections += 1 }
    }

    /// The bytes that are kept for each user.
    var ledger: MemoryLedger { MemoryLedger(of: connections, sessions, room) }

    /// The differences between what is counted and what the buffers hold. `answerByteCount` is the
    /// count of answers in progress; `distort` changes the counted charges first, for a test of the
    /// comparison.
    func ledgerDifferences(
        answerByteCount: Int, _ distort: (inout [UInt32: MemoryCharge]) -> Void
    ) -> [String] {
        var ledger = ledger
        distort(&ledger.charges)
        let held = HeldMemory(of: connections, sessions, room)
        let rows = [
            ("answers", answerByteCount, held.answerByteCount),
            ("outcomes of disconnected sessions", sessions.leftBytes, held.leftByteCount),
        ]
        return ledger.differences(from: held)
            + rows.filter { $0.1 != $0.2 }.map {
                "\($0.0): \($0.1) bytes are counted, \($0.2) are held"
            }
    }

    /// Every counter by its name.
    func counters(answerByteCount: Int) -> [String: UInt64] {
        let memory = memory(answerByteCount: answerByteCount, endedTurns: 0)
        var all = orders.stats.named
        all["connections"] = UInt64(memory.connections)
        all["sessions"] = UInt64(memory.sessions)
        all["slices"] = UInt64(memory.slices)
        all["subscriptions"] = UInt64(memory.subscriptions)
        all["readOnly"] = chronicle.admission.lacksSpace ? 1 : 0
        all["shrinkOnly"] = chronicle.admission.isShrinking ? 1 : 0
        all["memoryFull"] = states.isMemoryFull ? 1 : 0
        all["nodes"] = UInt64(tree.mountedCount)
        all["sequence"] = tree.turn.sequence
        all["sagaRestarts"] = tree.sagaCounts.restarts
        all["sagasGivenUp"] = tree.sagaCounts.givenUp
        all["snapshotBytes"] = UInt64(memory.snapshotBytes)
        all["ringBytes"] = UInt64(memory.ringBytes)
        all["keptBytes"] = UInt64(memory.keptBytes)
        all["selectedBytes"] = UInt64(memory.selectedBytes)
        if states.byteCountMax > 0 {
            all["stateBytes"] = UInt64(states.byteCount)
            all["stateBytesMax"] = UInt64(states.byteCountMax)
            all["stateFull"] = states.isFull ? 1 : 0
        }
        all["answerBytes"] = UInt64(memory.answerBytes)
        return all
    }
}
