import ReactorBytes
import ReactorCore
package import ReactorWire

/// A snapshot of the server's state, gathered in parts while the server continues.
///
///     server.wantSnapshot()                       // then, as a ServerOutput:
///     case .beginSnapshot: snapshot = server.snapshot
///     while !snapshot.isComplete {
///         for part in snapshot.gather() { writer.append(part) }   // after each next turn
///     }
///
/// It begins and ends directly after a turn has ended, before an action of the next turn: otherwise
/// it would contain changes that no earlier batch has.
///
/// *Place*: a shell passes the parts to a journal, which encodes them on a separate thread. The
/// snapshot is valid once the journal has every batch up to ``lastTurn``. *Owner*: the server's
/// thread.
package final class ServerSnapshot {
    /// The sequence of the nodes' states.
    package var sequence: UInt64 { nodes.sequence }
    /// Whether every part has been gathered.
    package private(set) var isComplete = false
    /// The last turn that the snapshot includes. Known once it is complete; nil for a server that
    /// has ended.
    package private(set) var lastTurn: UInt64?
    /// Whether the server continues, and calls ``seal(_:)`` after each turn.
    private let isLive: Bool
    /// The last parts, gathered when a turn ended.
    private var end: [Part]?
    /// Called on the encoding thread with the size of each node's state, and the first component of
    /// the node's path; set it before the first part is gathered.
    package var onEncoded: (@Sendable (_ topName: WireKey?, _ byteCount: Int) -> Void)?
    private let tree: Tree
    // The sessions' states may be later than the nodes'.
    private let table: SessionTable
    private let connection: () -> UInt64
    private let nodes: TreeSnapshot
    // If it were later, replaying could lead to another state: an owner that releases a claim and
    // claims again comes after later claims.
    /// The ownerships at the beginning of the snapshot.
    private let ownership: @Sendable () -> [OwnershipFact]
    /// The history's schemas; nil once they are gathered, and if there are none.
    private var schemas: [KeptSchema]?
    /// Sessions that are not gathered yet; nil until all nodes are.
    private var sessions: ArraySlice<Session>?

    // Gathering must not delay a turn: a copy costs some hundred nanoseconds.
    /// Number of nodes, or sessions, that are gathered between two turns.
    package static let countPerTurn = 512
    /// Maximum number of outcomes that are copied between two turns, unless a single session has
    /// more.
    static let outcomesPerTurn = 8_192

    /// Begins a snapshot; `connection` returns the highest number of any connection.
    init(
        of tree: Tree, _ table: SessionTable, isLive: Bool, connection: @escaping () -> UInt64
    ) {
        self.tree = tree
        self.isLive = isLive
        self.table = table
        self.connection = connection
        nodes = tree.beginSnapshot()
        ownership = tree.copyOwnership()
        schemas = tree.schemas.isEmpty ? nil : tree.schemas.all
    }

    /// Gathers up to `count` more nodes, or sessions.
    package func gather(_ count: Int = countPerTurn) -> [Part] {
        if isComplete { return [] }
        if !nodes.isComplete {
            nodes.gather(count)
            let saved = nodes.take()
            return takeSchemas() + (saved.isEmpty ? [] : [Part(saved, onEncoded)])
        }
        let waiting = sessions ?? table.stored[...]
        if waiting.isEmpty {
            sessions = waiting
            guard let parts = isLive ? end : rest() else { return [] }
            isComplete = true
            invariants()
            return parts
        }
        let count = min(count, Self.countAtOnce(waiting))
        sessions = waiting.dropFirst(count)
        let saved = waiting.prefix(count).map(\.saved)
        return [Part { .sessions(saved) }]
    }

    /// Records that a turn has ended, `number` being the last with a batch. Gathers the parts that
    /// must not be later than the nodes.
    func seal(_ number: UInt64) {
        guard nodes.isComplete, let sessions, sessions.isEmpty, end == nil else { return }
        end = rest()
        lastTurn = number
        invariants()
    }

    /// Whether the server adds nothing more.
    var isEnded: Bool { isComplete || end != nil }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(end == nil || nodes.isComplete, "a snapshot has its end before its nodes")
        assert(sessions == nil || nodes.isComplete, "sessions are gathered before the nodes")
        assert(!isComplete || sessions?.isEmpty ?? true, "a complete snapshot lacks sessions")
    }

    /// Cancels an incomplete snapshot.
    package func cancel() {
        nodes.cancel()
        isComplete = true
    }

    /// Number of these sessions that are copied between two turns.
    private static func countAtOnce(_ sessions: ArraySlice<Session>) -> Int {
        var outcomeCount = 0
        var count = 0
        for session in sessions.prefix(countPerTurn) {
            outcomeCount += session.outcomeCount
            guard count == 0 || outcomeCount <= outcomesPerTurn else { break }
            count += 1
        }
        return count
    }

    /// The schemas, which come before the values in their form.
    private func takeSchemas() -> [Part] {
        guard let schemas else { return [] }
        self.schemas = nil
        return [Part { .schemas(schemas) }]
    }

    private func rest() -> [Part] {
        let ownership = ownership
        let tasks = tree.copyTasks()
        let ended = table.ended
        let client = table.lastNumber
        let (task, epoch) = (tree.lastTask, tree.turn.epoch)
        let connection = connection()
        return [
            Part { .ownership(ownership()) },
            Part { .tasks(tasks()) },
            Part { .ended(sessions: ended.all, forgottenUpTo: ended.forgottenUpTo) },
            Part { .numbers(connection: connection, client: client, task: task, epoch: epoch) },
        ]
    }
}

extension Recovery {
    /// Begins a snapshot of the recovered state, after ``finish(epoch:sequence:)`` and before a
    /// server continues from it.
    package func beginSnapshot() -> ServerSnapshot {
        ServerSnapshot(of: tree, sessions, isLive: false) { self.lastConnection }
    }
}
