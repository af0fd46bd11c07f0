import ReactorBytes
import ReactorCore
package import ReactorWire

/// The figures of the server and its tree at a moment, for metrics.
///
/// *Place*: the shell reads them between two turns and adds the figures that it measures.
package struct ServerFigures: Sendable {
    /// The counters since the start.
    package var counters = ServerStats()
    /// The amounts that the server keeps.
    package var memory = ServerMemory()
    /// Open connections by user.
    package var connectionsByUID: [UInt32: Int] = [:]
    /// What is kept for each user.
    package var memoryByUID: [UInt32: MemoryCharge] = [:]
    /// Requests that wait, by the place where they are answered.
    package var questionsWaiting: [QuestionQueue: Int] = [:]
    /// Effects that have not ended.
    package var effectCount = 0
    /// Actions that are refused because the daemon ended while it ran them.
    package var poisonedCount = 0
    /// Mounted nodes.
    package var nodeCount = 0
    /// The sequence of the last transaction.
    package var sequence: UInt64 = 0
    /// Number of times that a failed saga started again.
    package var sagaRestarts: UInt64 = 0
    /// Number of sagas that failed too often and ended.
    package var sagasGivenUp: UInt64 = 0
    /// Which actions are admitted.
    package var admission = Admission.all
    /// The bytes of all states.
    package var states = StateFigures()
    /// Whether the server is ending and admits no client.
    package var isDraining = false

    /// The place where a request is answered.
    package enum QuestionQueue: String, CaseIterable, Sendable {
        /// On the loop, within the share of a turn.
        case soon = "loop"
        /// On another thread, one slice after another.
        case late = "encoding"
        /// In the shell: the past, and the daemon itself.
        case shell
    }

    /// All zero.
    package init() {}
}

extension ServerMeter {
    /// The figures now, as far as the meter's parts have them. The parameters are those of
    /// ``memory(answerByteCount:endedTurns:)``.
    func figures(answerByteCount: Int, endedTurns: UInt64) -> ServerFigures {
        var figures = ServerFigures()
        figures.counters = orders.stats
        figures.memory = memory(answerByteCount: answerByteCount, endedTurns: endedTurns)
        var inquiryCount = 0
        for connection in connections.values {
            figures.connectionsByUID[connection.peer.uid, default: 0] += 1
            inquiryCount += connection.requests.inquiryCount
        }
        figures.memoryByUID = ledger.charges
        figures.questionsWaiting[.shell] = inquiryCount
        figures.effectCount = tree.effectCount
        figures.poisonedCount = dispatcher.poisonedCount
        figures.nodeCount = tree.mountedCount
        figures.sequence = tree.turn.sequence
        figures.sagaRestarts = tree.sagaCounts.restarts
        figures.sagasGivenUp = tree.sagaCounts.givenUp
        figures.admission = chronicle.admission
        figures.states = StateFigures(
            byteCount: states.byteCount, byteCountMax: states.byteCountMax,
            isFull: states.isFull)
        return figures
    }

    /// The nodes with the most actions, at most `countMax`, and the actions of all others.
    func nodes(countMax: Int) -> (nodes: [NodeActivity], others: UInt64) {
        let counts = dispatcher.actionsByNode
        var others = counts.others
        var nodes: [NodeActivity] = []
        for (number, count) in counts.all.sorted(by: { $0.count > $1.count }) {
            if nodes.count < countMax, let path = tree.node(number)?.path {
                nodes.append(NodeActivity(path: path.description, actions: count))
            } else {
                others &+= count
            }
        }
        return (nodes, others)
    }

    /// The admitted connections, in the order of their arrival. *Cost*: sorts them.
    func clients() -> [ClientEntry] { connections.inOrder.compactMap(entry) }

    /// The entry of a connection; nil if it was turned away.
    func entry(_ connection: Connection) -> ClientEntry? {
        guard case .admitted(let time, _) = connection.arrival else { return nil }
        let peer = connection.peer
        return ClientEntry(
            connection: connection.id.rawValue, uid: peer.uid, gid: peer.gid, pid: peer.pid,
            program: connection.program, age: (orders.now &- time) / 1_000_000,
            queueBytes: UInt64(connection.outlet.value.queuedByteCount),
            inputBytes: UInt64(connection.inlet.value.heldByteCount),
            subscriptions: UInt64(connection.subscriptions.count),
            actions: connection.outlet.value.actionCount,
            inFlight: UInt64(connection.outlet.value.inFlight.count))
    }
}

/// The bytes of all states against ``ServerLimits/stateBytesMax``.
package struct StateFigures: Equatable, Sendable {
    /// Bytes of all states, rather too many than too few; 0 without a ceiling.
    package var byteCount = 0
    /// The ceiling in bytes; 0 without one.
    package var byteCountMax = 0
    /// Whether only actions that make states smaller are admitted.
    package var isFull = false
}

/// The figures of a server for a live view.
package struct ServerActivity: Sendable {
    /// Every counter by its name.
    package let counters: [String: UInt64]
    /// The nodes with the most actions since the start.
    package let nodes: [NodeActivity]
    /// Actions of all other nodes.
    package let otherActions: UInt64
    /// The admitted connections, in the order of their arrival.
    package let clients: [ClientEntry]

    /// Maximum number of ``nodes``.
    static let nodesMax = 256
}

/// A request whose answer is encoded off the loop, for the slow log.
package struct EncodingSubject: Equatable, Sendable {
    /// The question's name.
    package let name: String
    /// The path in the question.
    package let path: String
    /// The first connection that waits for the answer.
    package let connection: ConnectionID
    /// The peer of that connection.
    package let peer: Peer
}

/// The last question that a client asked, for the slow log.
package struct AskedQuestion: Sendable {
    /// The question.
    package let ask: Question
    /// The connection that asked.
    package let connection: ConnectionID
    /// The peer of that connection.
    package let peer: Peer
    /// When it arrived, in nanoseconds.
    package let time: UInt64
}
