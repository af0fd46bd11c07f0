import DequeModule
public import ReactorBytes
public import ReactorCore
import ReactorWire

/// The daemon's brain: bytes and ticks in, outputs out.
///
/// *Place*: a shell hands it what sockets and clocks say, and carries out ``takeOutputs()`` after
/// each call. The same machine runs in the daemon over libuv and in the simulation over nothing.
///
/// *Owner*: one thread; no call may be made from inside another.
///
/// Within a turn, actions are applied as they are received; what they cause leaves after
/// ``endTurn(at:)``, once the turn's batch and all before it are appended.
public final class Server {
    /// The reactors that are served.
    public let tree: Tree
    /// What one client, and all together, may take.
    public let limits: ServerLimits
    let random: () -> UInt64
    /// Name and version, for the welcome.
    let daemonName: String

    /// What every turn touches.
    let desk = Place(Desk())
    var users = UserTable()
    var openings = NodeOpenings()
    var silent: SilentPool
    /// The daemon's own user.
    let ownerUID: UInt32?
    var sessions: SessionTable
    var ring: DeltaRing
    /// When the last call came, in nanoseconds.
    var now: UInt64 = 0
    /// What was counted since the start.
    public var statistics: ServerStats { stats }
    var stats = ServerStats()
    /// Takes over how many lines the shell's log has dropped, for the answer to ``Ask/stats``.
    package func noteLog(linesDropped: UInt64) { stats.logLinesDropped = linesDropped }
    // because one that keeps nothing has nothing to pay for it
    /// Whether a journal is told what sessions, connections and clients did, besides the deltas.
    let keepsHistory: Bool
    /// Which actions are carried out.
    public private(set) var admission = Admission.all
    /// By how many bytes states became smaller while nothing else was carried out.
    public internal(set) var shrunkByteCount = 0
    /// Whether nothing may change, because nothing could be kept.
    public var isReadOnly: Bool { admission == .none }
    /// Whether clients of earlier runs of the daemon may know revisions of the epoch.
    var isEpochInherited: Bool
    /// Whether another epoch is to begin when the turn at hand ends.
    var isEpochWanted = false
    /// Sessions that ended meanwhile.
    var unwritten: [TurnFact] = []
    /// The highest number that a connection had; those of later ones are higher.
    public private(set) var highestConnection: UInt64
    var gate: EventGate

    // MARK: The turn at hand
    var turnNumber: UInt64 = 1
    /// The last turn that had a batch.
    var lastKeptTurn: UInt64 = 0
    /// Sequence before the turn's first transaction.
    var turnStart: UInt64 = 0
    /// Turns that were ended, those that had nothing to share out included.
    var endedTurns: UInt64 = 0
    /// Connections that had their share since the last turn ended.
    var spent: [Connection] = []
    /// Connections that had it before, and are read on when the turn at hand ends.
    var rested: [Connection] = []

    /// Connections that the turn may still give their updates.
    var flushesLeft = 0

    /// Whether a snapshot is to begin when the turn at hand ends.
    var isSnapshotWanted = false
    /// The snapshot that is being gathered.
    public internal(set) var snapshot: ServerSnapshot?

    /// Subscriptions that wait for the journal, by the questions that were asked for them.
    var parked: [UInt64: ParkedRequest] = [:]
    var lastQuestion: UInt64 = 0

    /// Actions whose effects have ended in the turn at hand, for clients who wait for that.
    var endedActions: [Origin] = []

    // MARK: Turns that wait for their batches
    /// Outputs of turns up to this one may leave.
    var releasedTurn: UInt64 = 0
    /// Whether the server is about to end, and lets nobody in any more.
    public internal(set) var isDraining = false

    /// A turn whose outputs have not left.
    struct TurnRecord {
        var number: UInt64
        var isAppended: Bool
        var connections: [Connection]
        var effects: [PendingEffect]
        /// Bytes of its batch.
        var byteCount: Int
        /// Whether its batch was handed to the journal.
        var isKept = false
    }

    /// Bytes of batches that the journal has been handed and has not appended.
    var unreleasedBytes = 0
    /// Whether those are so many that nobody is read from.
    var isCongested = false
    /// Whether the shell has clients wait, for the sake of the disk.
    var isHeldBack = false

    /// Serves `tree`, and lets its reactors begin: that is part of the first turn. `random` yields
    /// random 64-bit numbers, for session secrets; `ownerUID` is the user for whom
    /// ``ServerLimits/ownerConnectionsReserved`` are kept, if there is one.
    public convenience init(
        _ tree: Tree, limits: ServerLimits = ServerLimits(), daemonName: String = "reactord",
        ownerUID: UInt32? = nil, random: @escaping () -> UInt64
    ) {
        self.init(
            Recovery(of: tree, limits: limits), keepsHistory: false, limits, daemonName, ownerUID,
            random)
        tree.numberTasksAnew()
        tree.open()
    }

    /// Goes on where `recovery` left off, and keeps history from here on: what former connections
    /// owned ends, sessions go on, the reactors begin; all of that is part of the first turn.
    ///
    /// `words` tell the next run of the daemon which action it died of, if it did: see
    /// ``lastDeath``. One that is read-only shows what there is and refuses every action with
    /// ``FaultCode/diskFull``, until it is told to ``goOn()``.
    public convenience init(
        _ recovery: Recovery, watching words: SharedWords? = nil, isReadOnly: Bool = false,
        daemonName: String = "reactord", ownerUID: UInt32? = nil,
        random: @escaping () -> UInt64
    ) {
        self.init(
            recovery, keepsHistory: true, recovery.limits, daemonName, ownerUID, random)
        if let words { desk.value.watch = ActionWatch(words) }
        tree.turn.recordsFacts = true
        sessions.endFormerConnections(limits)
        admission = .none
        if !isReadOnly { goOn() }
    }

    // because nobody but the daemon's own log asks
    /// Which action the run before died of, if it did.
    package var lastDeath: ActionWatch.Death? { watch.death }

    /// Lets actions change things, and the reactors begin, as part of the turn at hand.
    ///
    /// With `admission` ``Admission/shrinking``, actions are carried out that make the tree smaller;
    /// see ``admitAll()``.
    public func goOn(_ admission: Admission = .all) {
        precondition(isReadOnly, "a server that changes things is told to go on")
        precondition(admission != .none, "a server goes on with nothing")
        self.admission = admission
        note(.layout(tree.takeLayout()))
        noteWhatWasUnwritten()
        tree.endFormerConnections()
        tree.resumeTasks()
        tree.open()
    }

    /// Carries out every action again.
    public func admitAll() {
        precondition(!isReadOnly, "a server that changes nothing is told to admit everything")
        admission = .all
    }

    private init(
        _ recovery: Recovery, keepsHistory: Bool, _ limits: ServerLimits, _ daemonName: String,
        _ ownerUID: UInt32?, _ random: @escaping () -> UInt64
    ) {
        tree = recovery.tree
        self.keepsHistory = keepsHistory
        isEpochInherited = keepsHistory && recovery.goesOnInEpoch
        highestConnection = recovery.lastConnection
        self.limits = limits
        self.daemonName = daemonName
        self.ownerUID = ownerUID
        self.random = random
        silent = SilentPool(countMax: limits.handshakesMax)
        gate = EventGate(interval: limits.logInterval, eventsMax: limits.loggedFaultsMax)
        sessions = recovery.sessions
        ring = recovery.ring
        slices = SliceTable(cachedBytesMax: limits.snapshotCacheBytesMax)
        turnStart = tree.turn.sequence
        tree.effectsMax = limits.effectsMax
        if turnStart > 0 { questions.grownBytes = QuestionTable.unknownBytes }
    }

    deinit {
        // because a connection holds its session and the slices that it follows, and they hold it
        for connection in connections.values {
            connection.session = nil
            connection.subscriptions = [:]
        }
    }

    /// What the shell is to do, in order; empty when there is nothing more.
    public func takeOutputs() -> [ServerOutput] {
        if outputs.isEmpty { return [] }
        let taken = outputs
        outputs.removeAll(keepingCapacity: true)
        return taken
    }

    /// Whether a turn would have something to share out, though nothing was received.
    public var needsTurn: Bool {
        !noted.isEmpty || tree.turn.sequence != turnStart || !tree.turn.isQuiet || isSharing
            || !spent.isEmpty || hasHeldInput || isCrowded || !endedActions.isEmpty || isQuestionDue
            // because one waits for the other to end
            || isSnapshotWanted && snapshot?.isEnded ?? true
    }

    /// Whether subscribers wait for updates that the turn had no time for: look at what has arrived
    /// meanwhile, without waiting, and end another turn.
    public var isSharing: Bool { !unflushed.isEmpty }

    /// Whether the next turn goes on with input that was held back, because a connection sent more
    /// than ``ServerLimits/framesPerTurnMax`` frames, or asked for more than
    /// ``ServerLimits/answerBytesPerTurnMax``. Before it, a shell looks at all sockets.
    public var hasHeldInput: Bool { !rested.isEmpty || questions.hasSoon }

    /// Whether too many connections have not said hello, some of which may have by now. Before the next
    /// turn, a shell looks at all sockets.
    public var isCrowded: Bool { silent.isCrowded }

    /// Number of open connections.
    public var connectionCount: Int { connections.count }
}

/// Which actions a server carries out.
public enum Admission: Sendable {
    /// All.
    case all
    /// Those that make the tree smaller, because the disk is full but for a reserve.
    case shrinking
    /// None, because nothing can be kept.
    case none
}

// MARK: - Connections come and go
extension Server {
    /// A client connected.
    ///
    /// One for whom there is no place is told why, and closed. One that is too many even for that
    /// is closed at once, so that a storm of them holds no more than `handshakesMax` sockets.
    public func connect(_ id: ConnectionID, _ peer: Peer, at now: UInt64) {
        self.now = now
        let connection = Connection(
            id: id, peer: peer, connectedAt: now, connectedTurn: endedTurns)
        highestConnection = max(highestConnection, id.rawValue)
        if let (code, reason) = reasonToTurnAway(peer) {
            stats.turnedAway += 1
            tell(peer, code) { .turnedAway(peer, reason, leftOut: $0) }
            guard connections.count < limits.connectionsMax + limits.handshakesMax else {
                outputs.append(.close(id))
                return
            }
            connections[id] = connection
            close(connection, Closing(code, reason))
            return
        }
        connection.isAdmitted = true
        connections[id] = connection
        users.add(connections: 1, of: peer.uid)
        stats.connectionsAccepted += 1
        silent.enter(id, of: peer.uid)
    }

    /// Closes connections that have been silent for longest, where there are too many. A connection
    /// that came after the last turn but one was not read from yet: it may have said hello.
    func makeRoomForSpeakers() {
        while let id = silent.takeExcess({ id in
            connections[id].map { $0.connectedTurn &+ 1 < endedTurns } ?? true
        }) {
            makeRoom(id)
        }
    }

    private func makeRoom(_ id: ConnectionID) {
        guard let connection = connections[id] else { return }
        let reason =
            "handshakesMax \(limits.handshakesMax) reached: the oldest connection without a hello "
            + "makes room"
        stats.turnedAway += 1
        tell(connection.peer, .busy) { .turnedAway(connection.peer, reason, leftOut: $0) }
        close(connection, Closing(.busy, reason))
    }

    private func reasonToTurnAway(_ peer: Peer) -> (FaultCode, String)? {
        if isDraining { return (.draining, "the daemon is going down") }
        let reserved = reserved(from: peer)
        if users.total.connections >= limits.connectionsMax - reserved {
            let rest = reserved == 0 ? "" : ", but for \(reserved) that are the owner's"
            return (
                .busy, "connectionsMax \(limits.connectionsMax) reached\(rest): try again later"
            )
        }
        if users[peer.uid].connections >= limits.connectionsPerUIDMax {
            return (
                .busy,
                "connectionsPerUIDMax \(limits.connectionsPerUIDMax) reached for uid \(peer.uid)"
            )
        }
        return nil
    }

    /// Places that a peer may not take: those kept for the owner.
    private func reserved(from peer: Peer) -> Int {
        // because a daemon that is to serve few still serves others
        ownerUID == nil || peer.uid == ownerUID
            ? 0 : min(limits.ownerConnectionsReserved, limits.connectionsMax / 2)
    }

    /// The socket is closed; nothing more comes from it or goes to it.
    public func disconnect(_ id: ConnectionID, at now: UInt64) {
        self.now = now
        guard let connection = connections.removeValue(forKey: id) else { return }
        if connection.isAdmitted { users.add(connections: -1, of: connection.peer.uid) }
        silent.leave(id, of: connection.peer.uid)
        connection.stage = .closed
        connection.queue.removeAll()
        connection.partial = []
        leaveSlices(connection)
        forgetParked(of: connection)
        openings.end(id, connection.nodes)
        dropQuestions(of: connection)
        connection.nodes.removeAll()
        tree.endConnection(id.rawValue)
        guard let session = connection.session else { return }
        connection.session = nil
        sessions.leave(session, at: now)
        // because what the turn has answered already is not to be answered with "ended"
        if tree.turn.hasResolutions { resolve() }
        session.endConnection(limits)
        for evicted in sessions.weigh(
            session, bytesMax: limits.outcomeBytesMax, at: tree.turn.sequence)
        {
            note(.evicted(client: evicted.client))
        }
    }

    /// For how long a session without actions waits for its client to come back.
    static let blankSessionNanoseconds: UInt64 = 60_000_000_000

    /// Ends all subscriptions of a connection.
    func leaveSlices(_ connection: Connection) {
        for subscription in connection.subscriptions.values {
            slices.leave(subscription.slice, connection)
        }
        users.add(subscriptions: -connection.subscriptions.count, of: connection.peer.uid)
        connection.subscriptions.removeAll()
    }

    /// The client sends nothing more and still reads: what it asked for is answered. One that closed
    /// its socket wholly is a ``disconnect(_:at:)``.
    public func endInput(_ id: ConnectionID) {
        guard let connection = connections[id], !connection.isInputEnded else { return }
        connection.isInputEnded = true
        note(connection)
    }

    /// Stops accepting, tells everybody, and closes each connection once it has all its outcomes.
    public func drain() {
        guard !isDraining else { return }
        isDraining = true
        for connection in connections.values.sorted(by: { $0.id.rawValue < $1.id.rawValue }) {
            // because a half-closed client has its time until the daemon goes
            if connection.isClosing, connection.closingSince == nil {
                connection.closingSince = now
            }
            close(connection, Closing(.draining, "the daemon is going down"))
        }
    }

    /// Looks at deadlines, and tells idle subscribers how far they are; call it once a second. `isLate`
    /// says that the process was stopped meanwhile: what clients wrote in time has yet to be read.
    public func tick(at now: UInt64, isLate: Bool = false) {
        self.now = now
        if now > Self.blankSessionNanoseconds {
            sessions.forgetBlank(before: now - Self.blankSessionNanoseconds)
        }
        cutStalledAnswers()
        for connection in connections.values.sorted(by: { $0.id.rawValue < $1.id.rawValue }) {
            if connection.isClosing {
                abandon(connection)
            } else if connection.stage == .greeting, !isLate,
                now &- connection.connectedAt >= limits.handshakeDeadline
            {
                fail(connection, .timeout, "no hello within the handshake deadline")
            } else if !connection.partial.isEmpty, !connection.isReadingPaused, !isLate,
                now &- connection.partialSince >= limits.partialFrameDeadline
            {
                fail(connection, .timeout, "a frame was begun and not completed in time")
            } else if !connection.subscriptions.isEmpty,
                connection.markedSequence < tree.turn.sequence, !connection.isWriting
            {
                note(connection)
            }
        }
    }

    /// Closes a connection that was told to go and does not take that in.
    private func abandon(_ connection: Connection) {
        guard let since = connection.closingSince, connection.stage != .closed,
            now &- since >= limits.closeDeadline
        else { return }
        connection.queue.removeAll()
        connection.stage = .closed
        outputs.append(.cut(connection.id))
    }

    /// Runs a job that an effect posted.
    public func perform(_ job: (Tree) -> Void) { job(tree) }
}
