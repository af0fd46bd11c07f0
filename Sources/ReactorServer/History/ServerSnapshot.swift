import ReactorBytes
import ReactorCore
import ReactorWire

/// The state that a later server continues from, gathered in parts while this one continues.
///
///     server.wantSnapshot()                       // then, as a ServerOutput:
///     case .beginSnapshot: snapshot = server.snapshot
///     while !snapshot.isComplete {
///         for part in snapshot.gather() { writer.append(part) }   // after each next turn
///     }
///
/// It begins, and is completed, right after a turn is sealed, before an action of the next turn:
/// otherwise it would hold state that no batch before it has.
///
/// *Place*: a shell hands the parts to a journal, which encodes them on a separate thread. The
/// snapshot may be used once the journal holds every batch up to ``lastTurn``. *Owner*: the
/// server's thread.
public final class ServerSnapshot {
    /// A piece, to be encoded on any thread.
    public typealias Part = @Sendable () -> [UInt8]

    /// The sequence that the nodes are as of.
    package var sequence: UInt64 { nodes.sequence }
    /// Whether nothing is left to gather.
    public private(set) var isComplete = false
    /// The last turn that the snapshot includes; known once it is complete, and nil for a server that
    /// has ended.
    package private(set) var lastTurn: UInt64?
    /// Whether the server continues, and calls ``seal(_:)`` when the snapshot may end.
    private let isLive: Bool
    /// The last parts, gathered when a turn was sealed.
    private var end: [Part]?
    private let tree: Tree
    // Sessions may be of a later time than the nodes.
    private let table: SessionTable
    private let connection: () -> UInt64
    private let nodes: TreeSnapshot
    // As of the beginning: an owner that releases something and claims it again comes behind later
    // claims, so replayed facts would lead elsewhere from a later state.
    /// The ownerships when the snapshot began.
    private let ownership: @Sendable () -> [OwnershipFact]
    /// Sessions that have yet to be gathered; nil until the nodes are.
    private var sessions: ArraySlice<Session>?

    // A turn must not wait long: a copy costs some hundred nanoseconds.
    /// Nodes, or sessions, that are gathered between two turns.
    public static let countPerTurn = 512
    /// Maximum number of outcomes that are copied between two turns; a single session may have more.
    static let outcomesPerTurn = 8_192

    /// Begins a snapshot; `connection` returns the highest number of a connection.
    init(
        of tree: Tree, _ table: SessionTable, isLive: Bool, connection: @escaping () -> UInt64
    ) {
        self.tree = tree
        self.isLive = isLive
        self.table = table
        self.connection = connection
        nodes = tree.beginSnapshot()
        ownership = tree.copyOwnership()
    }

    /// Gathers at most `count` more nodes, or sessions.
    public func gather(_ count: Int = countPerTurn) -> [Part] {
        if isComplete { return [] }
        if !nodes.isComplete {
            nodes.gather(count)
            let saved = nodes.take()
            return saved.isEmpty ? [] : [Self.part(saved)]
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
        return [{ SnapshotPart.sessions(saved).wireBytes() }]
    }

    /// Records that a turn was sealed and that the batch of turn `number` was the last: gathers what must
    /// not be of a later time.
    func seal(_ number: UInt64) {
        guard nodes.isComplete, let sessions, sessions.isEmpty, end == nil else { return }
        end = rest()
        lastTurn = number
        invariants()
    }

    /// Whether the server has nothing more to add.
    var isEnded: Bool { isComplete || end != nil }

    /// What holds between two verbs; checked in debug builds.
    @inline(__always)
    private func invariants() {
        assert(end == nil || nodes.isComplete, "a snapshot has its end before its nodes")
        assert(sessions == nil || nodes.isComplete, "sessions are gathered before the nodes")
        assert(!isComplete || sessions?.isEmpty ?? true, "a complete snapshot lacks sessions")
    }

    /// Ends it before it is complete.
    package func cancel() {
        nodes.cancel()
        isComplete = true
    }

    /// How many of these sessions are copied between two turns.
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

    private static func part(_ nodes: [SavedNode]) -> Part {
        {
            var writer = WireWriter()
            for node in nodes { node.encode(into: &writer) }
            return SnapshotPart.nodes(writer.bytes).wireBytes()
        }
    }

    private func rest() -> [Part] {
        let ownership = ownership
        let tasks = tree.copyTasks()
        let ended = table.ended
        let client = table.lastNumber
        let (task, epoch) = (tree.lastTask, tree.turn.epoch)
        let connection = connection()
        return [
            { SnapshotPart.ownership(ownership()).wireBytes() },
            { SnapshotPart.tasks(tasks()).wireBytes() },
            {
                SnapshotPart.ended(sessions: ended.all, forgottenUpTo: ended.forgottenUpTo)
                    .wireBytes()
            },
            {
                SnapshotPart.numbers(
                    connection: connection, client: client, task: task, epoch: epoch
                ).wireBytes()
            },
        ]
    }
}

extension Recovery {
    /// Begins a snapshot of the recovered state, after ``finish(epoch:sequence:)`` and before a server
    /// continues from it.
    package func beginSnapshot() -> ServerSnapshot {
        ServerSnapshot(of: tree, sessions, isLive: false) { self.lastConnection }
    }
}
