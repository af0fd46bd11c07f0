package import ReactorBytes
package import ReactorCore
package import ReactorWire

/// The daemon's logic: takes bytes and ticks, returns outputs.
///
/// *Place*: a shell passes it bytes from sockets and the time, and executes ``nextOutput()`` after
/// each call. The same machine runs in the daemon over libuv and in the simulation in memory.
///
/// *Owner*: one thread; no call may be made during another.
///
/// Within a turn, actions are applied as they arrive. Their output leaves after ``endTurn(at:)``,
/// once the journal has the turn's batch and all earlier ones.
///
/// The server has no state besides its parts, which it calls in order: input goes through
/// ``Intake`` to the part for each frame, and output leaves through ``Delivery``. A part knows only
/// parts that were made before it, and none calls the server.
package final class Server {
    /// The served reactors.
    package let tree: Tree
    /// Limits of each client and of all together.
    package private(set) var limits: ServerLimits
    let orders: ShellOrders
    /// The open connections.
    let connections: ConnectionTable
    /// Decides which clients may connect.
    let peers: PeerAdmission
    let chronicle: Chronicle
    let delivery: Delivery
    let outcomes: OutcomeWriter
    let dispatcher: Dispatcher
    let openNodes: OpenNodes
    let subscriptions: Subscriptions
    let answers: AnswerService
    let intake: Intake
    let sealer: TurnSealer
    /// Applies the rows of another daemon; nil while this one leads.
    private(set) var rows: RowApplier?

    /// Serves `tree`, and lets its reactors begin: that is part of the first turn. `random` yields
    /// random 64-bit numbers, for session secrets; `ownerUID` is the user for whom
    /// ``ServerLimits/ownerConnectionsReserved`` are kept, if there is one. Without a journal, the
    /// server orders no ``ServerOutput/append(_:)``, and a turn's outputs leave at its end.
    package convenience init(
        _ tree: Tree, limits: ServerLimits = ServerLimits(), daemonName: String = "reactord",
        ownerUID: UInt32? = nil, hasJournal: Bool = true, random: @escaping () -> UInt64
    ) {
        self.init(
            Recovery(of: tree, limits: limits), keepsHistory: false, hasJournal: hasJournal,
            ActionWatch(), daemonName, ownerUID, random)
        tree.renumberTasks()
        tree.open()
    }

    /// Continues from `recovery`, and keeps history. In the first turn, ownerships of former
    /// connections end, sessions continue, and the reactors start.
    ///
    /// `words` mark the action in progress for the next run of the daemon: see ``lastDeath``. A
    /// read-only server shows its state, and refuses every action with ``FaultCode/diskFull`` until
    /// ``goOn(_:)``. The connections and sessions in `handover` do not end: see
    /// ``takeOver(_:at:peer:)``.
    package convenience init(
        _ recovery: Recovery, watching words: SharedWords? = nil, isReadOnly: Bool = false,
        daemonName: String = "reactord", ownerUID: UInt32? = nil,
        after handover: ServerHandover? = nil, random: @escaping () -> UInt64
    ) {
        self.init(
            recovery, keepsHistory: true, hasJournal: true,
            words.map { ActionWatch($0) } ?? ActionWatch(), daemonName, ownerUID, random)
        tree.turn.recordFacts()
        sessions.endFormerConnections(limits, except: handover?.clients ?? [])
        chronicle.beginReadOnly()
        if !isReadOnly { goOn(keeping: handover?.owners ?? []) }
    }

    init(
        _ recovery: Recovery, keepsHistory: Bool, hasJournal: Bool, _ watch: ActionWatch,
        _ daemonName: String, _ ownerUID: UInt32?, _ random: @escaping () -> UInt64
    ) {
        tree = recovery.tree
        limits = recovery.limits
        let sessions = recovery.sessions
        connections = ConnectionTable()
        peers = PeerAdmission(limits, ownerUID: ownerUID)
        orders = ShellOrders(logInterval: limits.logInterval, eventsMax: limits.loggedFaultsMax)
        chronicle = Chronicle(recovery, keepsHistory: keepsHistory, limits, orders)
        delivery = Delivery(limits, orders)
        outcomes = OutcomeWriter(
            tree, sessions, connections, chronicle, delivery, orders, limits)
        let states = StateCeiling(recovery, limits)
        let time = InputTime(limits, ownerUID: ownerUID)
        dispatcher = Dispatcher(
            tree, limits, orders, chronicle, outcomes, delivery, connections, states,
            time, Forwarder(orders, delivery, limits), watching: watch)
        openNodes = OpenNodes(tree, delivery, countMax: limits.nodesPerConnectionMax)
        let sharing = SliceSharing(tree, limits, orders, chronicle, delivery)
        subscriptions = Subscriptions(recovery, limits, orders, chronicle, delivery, sharing)
        let meter = ServerMeter(
            tree: tree, orders: orders, dispatcher: dispatcher, connections: connections,
            sessions: sessions, chronicle: chronicle, delivery: delivery, openNodes: openNodes,
            sharing: sharing, subscriptions: subscriptions, states: states,
            room: MemoryGrants())
        answers = AnswerService(meter, limits, orders, chronicle, delivery)
        let handshake = Handshake(
            tree, sessions, chronicle, outcomes, delivery, limits, daemonName: daemonName,
            random: random)
        intake = Intake(
            limits, orders, peers, delivery, dispatcher, openNodes, subscriptions, answers,
            handshake, UserQuotas(connections, orders, ownerUID: ownerUID), time,
            UserBacklog(limits, chronicle, ownerUID: ownerUID))
        sealer = TurnSealer(
            tree, orders, chronicle, delivery, openNodes, sharing, subscriptions, answers,
            intake.quotas, states, hasJournal: hasJournal)
        tree.effectsMax = limits.effectsMax
    }

    /// Applies other limits to what comes from here on, between two turns.
    package func setLimits(_ limits: ServerLimits) {
        self.limits = limits
        orders.setLimits(limits)
        chronicle.setLimits(limits)
        outcomes.setLimits(limits)
        states.setLimits(limits)
        intake.setLimits(limits)
        tree.effectsMax = limits.effectsMax
    }

    /// Keeps users to ``ServerLimits/turnTimePerUID`` from now on; `clock` returns the time in
    /// nanoseconds, from an arbitrary origin.
    package func measureInput(by clock: @escaping () -> UInt64) { intake.time.measure(by: clock) }

    /// Runs a job that an effect posted.
    package func perform(_ job: (Tree) -> Void) { job(tree) }

    /// Applies rows with `rows` from now on, or decides with nil.
    func apply(with rows: RowApplier?) { self.rows = rows }
}

// MARK: - What a shell reads
extension Server {
    /// Takes the next output for the shell; nil if there is none now. Executing an output may add
    /// others.
    package func nextOutput() -> ServerOutput? { orders.next() }

    /// Takes all outputs for the shell, oldest first.
    package func takeOutputs() -> [ServerOutput] { orders.takeAll() }

    /// When the shell ends the next turn.
    package var nextTurn: NextTurn {
        if isSharing || hasHeldInput || isCrowded { return .afterPoll }
        let isDue =
            delivery.hasListed || chronicle.hasChanges || outcomes.isDue || intake.hasSpent
            || answers.isDue || chronicle.isSnapshotDue || chronicle.isProbeDue
        return isDue ? .now : .none
    }

    /// Whether a turn has something to send without input.
    package var needsTurn: Bool { nextTurn != .none }

    /// Whether subscribers wait for updates beyond the turn's share: the shell reads arrived input
    /// without waiting, and ends another turn.
    package var isSharing: Bool { delivery.isSharing }

    /// Whether the next turn handles held-back input: a connection sent more than
    /// ``ServerLimits/framesPerTurnMax`` frames, or requested more than
    /// ``ServerLimits/answerBytesPerTurnMax``. Before that turn, the shell reads all sockets.
    package var hasHeldInput: Bool { intake.hasRested || answers.hasSoon }

    /// Whether too many connections have not sent a hello; some may have arrived since. Before the
    /// next turn, the shell reads all sockets.
    package var isCrowded: Bool { peers.isCrowded }

    /// Number of open connections.
    package var connectionCount: Int { connections.count }

    /// The counters since the start.
    package var statistics: ServerStats { orders.stats }
    /// Bytes that clients sent.
    package var receivedByteCount: UInt64 { orders.stats.bytesReceived }

    /// Sets the figures that the shell counts, for the answer to ``Question/stats``.
    package func setCounts(_ counts: ShellCounts) { orders.stats.shell = counts }

    /// The amounts that the server keeps now.
    package var memory: ServerMemory {
        answers.meter.memory(
            answerByteCount: answers.table.byteCount, endedTurns: intake.endedTurns)
    }

    /// How far the handling of actions has come.
    package var progress: ActionProgress { dispatcher.progress }

    /// The path of the node of the last action; nil if there is none, or it is gone.
    package var lastPath: SlicePath? { dispatcher.lastPath }

    /// The request whose answer is encoded off the loop; nil if none is.
    package var encodingSubject: EncodingSubject? { answers.encodingSubject }

    /// The last question of a client; nil before the first one.
    package var lastAsked: AskedQuestion? { answers.lastAsked }

    /// The figures of the server and its tree, for metrics. *Cost*: as ``memory``.
    package var figures: ServerFigures {
        var figures = answers.figures(endedTurns: intake.endedTurns)
        figures.isDraining = isDraining
        return figures
    }

    /// The admitted connections, in the order of their arrival. *Cost*: as ``memory``.
    package var clients: [ClientEntry] { answers.meter.clients() }

    /// The figures for a live view. *Cost*: as ``memory``.
    package var activity: ServerActivity { answers.activity }

    /// The highest number of any connection; later connections get higher ones.
    package var highestConnection: UInt64 { chronicle.highestConnection }

    /// Number of actions of a client whose answer is deferred. *Cost*: visits all sessions.
    package func deferredCount(of client: UInt64) -> Int {
        sessions.all.first { $0.client == client }?.deferred.count ?? 0
    }

    /// Whether states have ``ServerLimits/stateBytesMax``: only actions that make them smaller are
    /// admitted.
    package var isStateFull: Bool { states.isFull }

    /// Whether the server is ending and admits no client.
    package var isDraining: Bool { peers.isDraining }

    /// The action that was in progress when the last run of the daemon died, if it did.
    package var lastDeath: ActionWatch.Death? { dispatcher.lastDeath }

    /// Counts the bytes of all states.
    var states: StateCeiling { dispatcher.states }

    /// All sessions.
    var sessions: SessionTable { intake.handshake.sessions }

    /// Whether the turn has changes or facts that are in no batch.
    var isUnsealed: Bool { chronicle.isUnsealed }
}

// MARK: - Connections come and go
extension Server {
    /// Handles a new connection; a client beyond the limits gets the reason and is closed.
    package func connect(_ id: ConnectionID, _ peer: Peer, at now: UInt64) {
        orders.begin(at: now)
        chronicle.record(connection: id)
        let quota = intake.quotas.connectionsMax(of: peer)
        if let refusal = peers.reasonToTurnAway(peer, quota: quota) {
            return intake.turnAway(id, peer, refusal, connections)
        }
        let arrival = Connection.Arrival.admitted(at: now, turn: intake.endedTurns)
        connections.insert(
            Connection(id: id, peer: peer, arrival, access: peers.admit(id, peer)))
        orders.stats.connectionsAccepted += 1
    }

    /// Handles a closed socket.
    package func disconnect(_ id: ConnectionID, at now: UInt64) {
        orders.begin(at: now)
        guard let connection = connections.remove(id) else { return endOwner(id) }
        dispatcher.forwarder.abandonOwed(of: connection, isGoodbye: false)
        peers.leave(connection)
        intake.quotas.leave(connection)
        connection.close()
        connection.outlet.value.clear()
        connection.inlet.value.clear()
        subscriptions.leave(connection)
        answers.barriers.leave(connection)
        openNodes.leave(connection)
        delivery.dropAnswers(of: connection)
        answers.releaseEnded()
        // While following, only rows change the tree and what the history has of sessions.
        if !chronicle.isFollowing {
            // First, so that the waits end in one way, whatever the client's reactors answer below.
            intake.handshake.endWaits(of: connection)
            tree.endConnection(id.rawValue)
        }
        intake.handshake.leave(connection, at: now)
    }

    /// Handles the end of a client's input: the client still reads, and gets its answers. For a
    /// client that closed its socket, call ``disconnect(_:at:)``.
    package func endInput(_ id: ConnectionID) {
        guard let connection = connections[id], connection.inlet.value.end() else { return }
        delivery.list(connection)
    }

    /// Ends an admitted connection with ``FaultCode/kicked``; returns its last figures, or nil if
    /// there is none.
    package func kick(_ id: ConnectionID, at now: UInt64) -> ClientEntry? {
        orders.begin(at: now)
        guard let connection = connections[id], !connection.isLeaving,
            let entry = answers.meter.entry(connection)
        else { return nil }
        intake.close(connection, Closing(.kicked, "an operator ended the connection"))
        return entry
    }

    /// Applies how near the process is to its memory ceiling, of which it has `used` bytes; call it
    /// after each measurement.
    package func relieve(_ pressure: MemoryPressure, used byteCount: Int = 0, at now: UInt64) {
        orders.begin(at: now)
        answers.meter.room.measured(pressure, used: byteCount, max: limits.memoryMax)
        MemoryRelief(
            limits: limits, peers: peers, dispatcher: dispatcher, subscriptions: subscriptions,
            intake: intake, connections: connections
        ).apply(pressure)
    }

    /// Closes connections of users that keep more than their limit; call it after much input, too.
    package func boundUsers(at now: UInt64) {
        orders.begin(at: now)
        UserRelief(limits: limits, meter: answers.meter, intake: intake).boundAll()
    }

    /// Applies access rules from now on; `groups` returns a peer's supplementary groups. Slices
    /// that clients do not get any more end with `gone`, nodes that they may not see are closed.
    package func apply(
        _ rules: AccessRules, ownerUID: UInt32?, groups: (ConnectionID) -> [UInt32] = { _ in [] }
    ) {
        guard peers.apply(rules, ownerUID: ownerUID) else { return }
        for connection in connections.inOrder {
            let former = connection.access
            connection.join(groups) { peers.access(of: $0) }
            guard connection.access != former else { continue }
            answers.refuseWaiting(of: connection)
            subscriptions.reassess(connection)
            openNodes.guardActions(of: connection)
        }
    }

    /// Applies quotas from now on; `groups` is as for access rules.
    package func apply(_ quotas: QuotaRules, groups: (ConnectionID) -> [UInt32] = { _ in [] }) {
        if quotas.namesGroups { connections.join(groups) { peers.access(of: $0) } }
        for connection in intake.quotas.apply(quotas) { intake.readOn(connection) }
    }

    /// Whether rules apply that may name groups.
    package var readsGroups: Bool { peers.hasRules || intake.quotas.rules.namesGroups }

    /// Connections from which nothing is read, as their user has used its quota.
    package var throttled: [ConnectionID] { intake.quotas.paused.map(\.id) }

    /// Reads again from users that have tokens again, or have rested, and refuses questions that have
    /// waited for too long; call it when ``ServerOutput/wake(at:)`` says.
    package func wake(at now: UInt64) {
        orders.begin(at: now)
        answers.barriers.expire()
        for connection in intake.quotas.takeReady(at: now) { intake.readOn(connection) }
        intake.readOnReady()
    }

    /// Refuses new clients, sends every client the reason, and closes each connection once its
    /// client has all its outcomes.
    package func drain() {
        guard peers.drain() else { return }
        answers.barriers.refuseAll()
        for connection in connections.inOrder { intake.drain(connection) }
    }

    /// Checks deadlines, sends idle subscribers a mark, and lets states be probed; call it once a
    /// second. `isLate` is true if the process was stopped, so that input is not read yet.
    package func tick(at now: UInt64, isLate: Bool = false) {
        orders.begin(at: now)
        intake.handshake.forgetBlank(at: now)
        answers.cutStalled(connections)
        boundUsers(at: now)
        intake.quotas.forgetIdle(at: now)
        wake(at: now)
        chronicle.tick()
        states.tick()
        let deadlines = ConnectionDeadlines(
            tree: tree, limits: limits, intake: intake, delivery: delivery)
        for connection in connections.inOrder { deadlines.check(connection, at: now, isLate) }
    }
}

// MARK: - What arrives
extension Server {
    /// Handles received bytes.
    ///
    /// *Owner*: `bytes` is valid during the call; the bytes of an incomplete frame are copied.
    package func receive(_ id: ConnectionID, _ bytes: Span<UInt8>, at now: UInt64) {
        orders.begin(at: now)
        connections.with(id) { connection in
            guard !connection.isLeaving else { return }
            orders.stats.bytesReceived &+= UInt64(bytes.count)
            intake.receive(connection, bytes)
        }
    }

    /// Records that the socket took all of the last write.
    package func written(_ id: ConnectionID, at now: UInt64) {
        orders.begin(at: now)
        connections.with(id) { connection in
            delivery.written(connection)
            answers.releaseEnded()
            intake.readOn()
            // A snapshot is of the end of a turn, so the end of this turn sends it.
            if subscriptions.canBePaid(connection) { delivery.list(connection) }
        }
    }

    /// Takes the encoding that ``ServerOutput/encode(_:)`` ordered.
    package func encoded(_ encoding: SliceEncoding) { answers.encoded(encoding) }

    /// Takes the checksums of the last probe, which read `byteCount` bytes.
    package func summed(_ sums: [UInt64], byteCount: Int) {
        chronicle.summed(sums, byteCount: byteCount)
    }

    /// Takes the journal's answer to question `number`: the requested frames, or nil if it does not
    /// have all of them. The subscription continues with them, or with a snapshot.
    package func answer(_ number: UInt64, with frames: [UInt8]?, at now: UInt64) {
        orders.begin(at: now)
        subscriptions.answer(number, with: frames)
    }

    /// Takes the shell's answer to an inquiry, between two turns: CBOR, or a refusal. Does nothing
    /// if the connection has ended.
    package func answer(
        _ inquiry: Inquiry, with result: Result<[UInt8], Refusal>, at now: UInt64
    ) {
        orders.begin(at: now)
        guard let connection = connections[inquiry.connection] else { return }
        answers.answer(inquiry, with: result, to: connection)
    }
}

// MARK: - The end of a turn
extension Server {
    /// Closes the turn: shares out what it caused, and hands its batch to the journal. Without a
    /// journal, what it caused leaves.
    ///
    /// Call it once per pass of the loop, after all input that arrived.
    package func endTurn(at now: UInt64) {
        orders.begin(at: now)
        delivery.beginUpdates()
        answers.beginTurn()
        intake.endTurn()
        if isCrowded { intake.makeRoomForSpeakers(among: connections) }
        outcomes.sendTurn()
        answers.answerWaiting()
        chronicle.recordTurn()
        sealer.endTurn()
        // `release()` reads again: answers to that input belong to the next turn.
        let lastTurn = rows?.lastTurn ?? delivery.lastKeptTurn
        if chronicle.advanceSnapshot(lastTurn) { intake.backlog.beginSnapshot(at: now) }
        release()
        if chronicle.beginEpochIfContradicted({ intake.handshake.random() }) {
            subscriptions.forgetDeltas()
        }
    }

    /// The journal holds the batch of turn `number`, and all before it.
    package func appended(_ number: UInt64, at now: UInt64) {
        orders.begin(at: now)
        delivery.markAppended(upTo: number)
        release()
    }

    /// Sends released output, and reads from clients that have read enough.
    private func release() {
        delivery.release { tree.start($0) }
        answers.releaseEnded()
        intake.readOn()
        intake.readOnReleased()
        endCongestion()
    }

    /// Stops reading from clients that send actions until this is called with `none`: the journal
    /// grows faster than snapshots and trims can shorten it. Received actions still run.
    package func holdBack(_ writers: HeldWriters) {
        if intake.holdBack(writers) { endCongestion() }
    }

    /// Reads from all clients again once the journal has caught up.
    private func endCongestion() {
        guard delivery.endCongestion() else { return }
        for connection in connections.inOrder { intake.readOn(connection) }
    }

    // MARK: Snapshots
    /// The snapshot in progress, if there is one.
    package var snapshot: ServerSnapshot? { chronicle.snapshot }

    /// Requests a snapshot. It begins at the end of the turn, as an output after its batch.
    package func wantSnapshot() { chronicle.wantSnapshot() }

    /// A snapshot for a server that runs no further action; nil if changes are in no batch.
    package func lastSnapshot() -> ServerSnapshot? { chronicle.lastSnapshot() }

    /// A last batch of a server that runs no further action: a probe, with sums, of each state that
    /// changed since its last; nil without one. *Cost*: encodes these states.
    package func lastProbe() -> Batch? { chronicle.makeLastProbe(of: delivery.turn) }
}
