import ReactorBytes
public import ReactorCore
import ReactorWire

/// Everything that a server is to go on from, gathered bit by bit while it goes on.
///
///     server.wantSnapshot()                       // then, as a ServerOutput:
///     case .beginSnapshot: snapshot = server.snapshot
///     while !snapshot.isComplete {
///         for part in snapshot.gather() { writer.append(part) }   // after each next turn
///     }
///
/// It begins and is completed where a turn is sealed and no action of the next one was carried out:
/// else it would hold what no batch before it has.
///
/// *Place*: a shell hands the parts to a journal, which encodes them on a thread of its own. The
/// snapshot may be used once the journal holds every batch up to ``lastTurn``. *Owner*: the
/// server's thread.
public final class ServerSnapshot {
    /// A piece, to be encoded on any thread.
    public typealias Part = @Sendable () -> [UInt8]

    /// The sequence that the nodes are as of.
    public var sequence: UInt64 { nodes.sequence }
    /// Whether nothing is left to gather.
    public private(set) var isComplete = false
    /// The turn whose batch has the last that is in it; once it is complete, and was of a server that
    /// went on meanwhile.
    public private(set) var lastTurn: UInt64?
    /// Whether a server goes on meanwhile, which says when the snapshot may end.
    private let isLive: Bool
    /// What was gathered when the server said so.
    private var end: [Part]?
    private let tree: Tree
    // These may be of a later time than the nodes.
    private let table: SessionTable
    private let connection: () -> UInt64
    private let nodes: TreeSnapshot
    // because who takes what again, after giving it back, has it behind what was taken meanwhile:
    // facts that are replayed upon a later state of it lead elsewhere
    /// Who owned what when it was begun.
    private let ownership: @Sendable () -> [OwnershipFact]
    /// Sessions that were not gathered, once the nodes are.
    private var sessions: ArraySlice<Session>?

    // because a turn is not to wait for it: a copy costs some hundred nanoseconds
    /// Nodes, or sessions, that are looked at between two turns.
    public static let countPerTurn = 512
    /// Outcomes that sessions may have which are copied between two turns; one session may have more.
    static let outcomesPerTurn = 8_192

    /// Begins a snapshot; `connection` answers the highest number that a connection had.
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

    /// Gathers a bit more: no more than `count` nodes, or sessions.
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
            return parts
        }
        let count = min(count, Self.countAtOnce(waiting))
        sessions = waiting.dropFirst(count)
        let saved = waiting.prefix(count).map(\.saved)
        return [{ SnapshotPart.sessions(saved).wireBytes() }]
    }

    /// A turn was sealed, and the batch of turn `number` was the last: gathers what must not be of a
    /// later time than that.
    func noteSealed(_ number: UInt64) {
        guard nodes.isComplete, let sessions, sessions.isEmpty, end == nil else { return }
        end = rest()
        lastTurn = number
    }

    /// Whether the server has nothing more to do with it.
    var isEnded: Bool { isComplete || end != nil }

    /// Ends it before it is complete.
    public func cancel() {
        nodes.cancel()
        isComplete = true
    }

    /// How many of these sessions are copied at once.
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
    /// Begins a snapshot of what was recovered; once it is finished, and before a server goes on.
    public func beginSnapshot() -> ServerSnapshot {
        ServerSnapshot(of: tree, sessions, isLive: false) { self.lastConnection }
    }
}

extension Session {
    /// The session as it rests in a snapshot.
    var saved: SavedSession {
        SavedSession(
            client: client, secret: secret, uid: uid, ordinal: ordinal,
            runs: allRuns.map {
                SavedSession.Run(ordinal: $0.ordinal, sequence: $0.sequence, count: $0.count)
            },
            exceptions: allExceptions.map {
                SavedSession.Exception(ordinal: $0.ordinal, outcome: $0.outcome)
            }, deferred: deferred.sorted())
    }

    /// Takes over what a snapshot says of it.
    func restore(_ saved: SavedSession, _ limits: ServerLimits) {
        ordinal = saved.ordinal
        for run in saved.runs {
            noteApplied(
                AppliedRun(ordinal: run.ordinal, sequence: run.sequence, count: run.count), limits)
        }
        for exception in saved.exceptions {
            note(exception.outcome, of: exception.ordinal, limits)
        }
        deferred = Set(saved.deferred)
    }
}

extension Recovery {
    /// Restores what a part of a snapshot holds; parts come in the order in which they were
    /// gathered, before any row is replayed.
    public func restore(_ part: [UInt8]) throws(RecoveryError) {
        let found: SnapshotPart
        do throws(WireError) {
            found = try SnapshotPart(wireBytes: part.span)
        } catch {
            throw .damaged("a part of the snapshot: \(error)")
        }
        switch found {
        case .nodes(let bytes): try nodes.restore(bytes.span)
        case .sessions(let saved):
            for session in saved { sessions.restore(session, limits) }
        case .ownership(let facts): for fact in facts { nodes.replay(fact) }
        case .tasks(let facts): for fact in facts { nodes.replay(fact) }
        case .ended(let ended, let forgottenUpTo):
            sessions.restore(ended, forgottenUpTo: forgottenUpTo)
        case .numbers(let connection, let client, let task, let epoch):
            noteConnection(connection)
            sessions.skip(to: client)
            nodes.skipTasks(to: task)
            self.epoch = epoch
        }
    }
}
