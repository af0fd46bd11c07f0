package import ReactorBytes
package import ReactorCore
package import ReactorWire

// MARK: - A full disk, full memory, and a leading daemon
extension Server {
    /// What the server does with actions.
    package var mode: ServerMode { admission.mode }

    /// Which actions are admitted.
    package var admission: Admission { chronicle.admission }

    /// True while no action is carried out here: the journal cannot write, or another daemon leads.
    package var isReadOnly: Bool { chronicle.isReadOnly }

    /// By how many bytes states shrank while only shrinking actions were admitted.
    package var shrunkByteCount: Int { dispatcher.shrunkByteCount }

    /// Admits actions and starts the reactors, as part of the current turn.
    ///
    /// With `admission` ``Admission/shrinking``, only actions that make the tree smaller are
    /// admitted; see ``admitAll()``.
    package func goOn(_ admission: Admission = .all) {
        precondition(mode == .full, "a server in mode \(mode) does not go on")
        goOn(admission, keeping: [])
    }

    /// Does the same without an end of what `connections` own, which come from a former process or
    /// from other daemons.
    func goOn(_ admission: Admission = .all, keeping connections: Set<UInt64>) {
        chronicle.goOn(admission)
        tree.endFormerConnections(except: connections)
        tree.resumeTasks()
        tree.open()
    }

    /// Admits only actions that make the tree smaller, until ``admitAll()``.
    package func limitGrowth() { chronicle.limitGrowth() }

    /// Admits every action again.
    package func admitAll() { chronicle.admitAll() }

    // MARK: Full memory

    /// The differences between the counted bytes of users and their buffers; `distort` changes the
    /// counts, for a test of the comparison. *Cost*: O(waiting bytes).
    package func ledgerDifferences(
        _ distort: (inout [UInt32: MemoryCharge]) -> Void = { _ in }
    ) -> [String] {
        answers.meter.ledgerDifferences(answerByteCount: answers.table.busyByteCount, distort)
            + states.differences()
    }

    /// Bytes that a start of the daemon needs beside its states: a part of a snapshot is read as a
    /// whole, and the largest has the size of the largest state. 0 if no history is kept, or if states
    /// are not counted. Call it between two turns; `isExact` as in ``StateCeiling``.
    package func startReserve(isExact: Bool) -> Int {
        chronicle.keepsHistory ? states.largestByteCount(isExact: isExact) : 0
    }

    /// Claims memory for a state of the past that a client of this user asks for, and charges it to
    /// the user until ``endPast(of:)``: a second tree, and the largest part of a snapshot.
    ///
    /// *Throws*: BUSY with the limit, the bytes kept and the bytes requested.
    package func claimPast(of peer: Peer) throws(Refusal) {
        let byteCount = states.byteCount + states.largestByteCount(isExact: false)
        let quota = intake.quotas.rules.quota(of: peer).memoryMax
        try answers.meter.room.claimPast(
            byteCount, of: peer.uid,
            keeping: answers.meter.ledger.charges[peer.uid]?.total ?? 0,
            max: quota ?? limits.memoryPerUIDMax)
    }

    /// Ends the charge of a state of the past.
    package func endPast(of uid: UInt32) { answers.meter.room.endPast(of: uid) }

    // MARK: After another server

    /// Takes over a former server's counters, its question numbers, whose answers may still arrive,
    /// and the state of its epoch.
    package func succeed(_ former: Server) {
        subscriptions.succeed(former.subscriptions)
        chronicle.succeed(former.chronicle)
        peers.succeed(former.peers)
        intake.quotas.succeed(former.intake.quotas)
        intake.time.succeed(former.intake.time)
        orders.stats = former.orders.stats
    }

    // MARK: Following another daemon

    /// Continues from `recovery` as a follower of another daemon: applies the rows that it decides,
    /// see ``follow(_:at:)``, and serves reads. It refuses actions with ``FaultCode/elsewhere``, whose
    /// text names `leader`, unless ``beginForwarding()`` was called. No reactor decides and no effect
    /// runs until ``lead(in:keeping:at:)``.
    ///
    /// `node` is the number of this daemon among those that follow each other, from which its
    /// clients get their numbers. ``Recovery/prepareToFollow()`` was called before the recovery
    /// was finished. With `isCut`, no client is served until ``setCut(_:at:)`` ends that. The rows
    /// that the log has by then may contain actions of clients that come back, and a client concludes
    /// from a refusal that its action has changed nothing.
    package convenience init(
        following recovery: Recovery, leader: String? = nil, as node: UInt8, isCut: Bool = true,
        watching words: SharedWords? = nil, daemonName: String = "reactord",
        ownerUID: UInt32? = nil, random: @escaping () -> UInt64
    ) {
        self.init(
            recovery, keepsHistory: true, hasJournal: true,
            words.map { ActionWatch($0) } ?? ActionWatch(), daemonName, ownerUID, random)
        sessions.numberClients(as: node)
        chronicle.beginFollowing(isCut: isCut)
        answers.barriers.share()
        peers.cut(for: isCut ? Self.cutText : nil)
        sealer.setFollowing(true)
        outcomes.setLeader(leader)
        // Effects of earlier actions may have ended since, in the daemon that ran them, and so have
        // the connections.
        for session in sessions.all {
            session.markStart()
            session.endOwners()
        }
        apply(
            with: RowApplier(
                recovery, as: node, connections, outcomes, openNodes, subscriptions, intake,
                delivery, dispatcher.forwarder))
    }

    /// Sets the name of the daemon that carries out actions, for the clients that this one refuses.
    package func setLeader(_ leader: String?) { outcomes.setLeader(leader) }

    /// Serves no client while `isCut` is true, except administrators at their socket: the daemon
    /// cannot reach the log, and does not know how old its state is. A following server applies rows
    /// as before; a leading one goes on with what it has received.
    package func setCut(_ isCut: Bool, at now: UInt64) {
        orders.begin(at: now)
        guard isCut != peers.isCut else { return }
        precondition(
            chronicle.isFollowing || outcomes.isFollowed, "a server that is alone is cut off")
        if chronicle.isFollowing { chronicle.beginFollowing(isCut: isCut) }
        peers.cut(for: isCut ? Self.cutText : nil)
        guard isCut else { return }
        for connection in connections.inOrder
        where !connection.isRemote && !peers.isAdministrator(connection.peer) {
            orders.stats.countRefusal(.cut)
            let closing = Closing(.cut, Self.cutText)
            // Turns of a leading daemon wait for the log, and may never be in it.
            if chronicle.isFollowing {
                intake.close(connection, closing)
            } else {
                intake.end(connection, closing)
            }
        }
    }

    /// Ends every connection of this daemon's clients with ``FaultCode/cut``: another server takes the
    /// place of this one, which has turns that the log lacks, or lacks some that the log has. Hold its
    /// input, and carry out the writes that wait, before and after.
    package func dismissClients(at now: UInt64) {
        orders.begin(at: now)
        for connection in connections.inOrder where !connection.isRemote && !connection.isClosed {
            orders.stats.countRefusal(.cut)
            intake.end(
                connection,
                Closing(.cut, "this daemon goes back to the rows of the log: connect again"))
        }
    }

    /// The server's state includes every row that the log had at the time `asOf`; that of the time
    /// `confirmed` is confirmed by a majority of the log's members. Answers to clients that wait for
    /// that leave with the next turn.
    package func confirm(asOf: UInt64, confirmed: UInt64, at now: UInt64) {
        orders.begin(at: now)
        answers.barriers.confirm(asOf: asOf, confirmed: confirmed)
    }

    /// Whether clients have answers after ``confirm(asOf:confirmed:at:)``.
    package var hasConfirmed: Bool { answers.barriers.isDue }

    /// Whether no client is served: see ``setCut(_:at:)``.
    package var isCut: Bool { peers.isCut }

    private static let cutText =
        "this daemon does not know whether it has all rows of its leader: try again"

    /// Applies a row of the leading daemon to the current turn, whose end sends clients what it has
    /// for them. Returns the turn's number, to which ``ServerSnapshot/lastTurn`` refers.
    ///
    /// Give the row to the journal, and call ``endTurn(at:)`` after each row: a snapshot that
    /// begins with the turn's end includes the row.
    ///
    /// *Throws*: ``FollowError``, which says whether the server may still be used.
    @discardableResult
    package func follow(_ row: Batch, at now: UInt64) throws(FollowError) -> UInt64 {
        guard let rows else { preconditionFailure("a leading server applies no rows") }
        orders.begin(at: now)
        try rows.apply(row)
        chronicle.record(connection: ConnectionID(rows.recovery.lastConnection))
        return rows.lastTurn
    }

    /// Begins to decide, in `term` of the cluster, as part of a new turn: the leading daemon is
    /// gone, and this one has applied every row. The tree continues as it is.
    ///
    /// Connections of this server stay, and so do those of the daemons `nodes`. What all others own
    /// ends in this turn, and answers that they wait for are refused. The effects of the former
    /// leading daemon have ended. ``carryOutOwed(at:)`` follows in the same turn.
    ///
    /// *Throws*: if a planned task cannot be performed here. Nothing has changed then.
    package func lead(
        in term: UInt64, keeping nodes: Set<UInt8> = [], at now: UInt64
    ) throws(RecoveryError) {
        guard let rows else { preconditionFailure("a leading server is promoted") }
        precondition(!chronicle.hasChanges, "a server is promoted within the turn of a row")
        orders.begin(at: now)
        try rows.recovery.nodes.checkTasks()
        setCut(false, at: now)
        // The last row may have begun no turn: one that is not in the log must not have its number.
        if rows.lastTurn == delivery.turn, !isUnsealed, !delivery.hasListed { sealer.skipTurn() }
        apply(with: nil)
        tree.turn.recordFacts()
        sealer.setFollowing(false)
        chronicle.endFollowing(rows.recovery)
        outcomes.endFormerEffects()
        outcomes.beginLeading()
        let own = connections.values
        let others = sessions.all.filter { $0.source.map { nodes.contains($0.node) } ?? false }
        let waits = intake.handshake.lead(
            keeping: Set(own.compactMap { $0.session?.client } + others.map(\.client)))
        let owners = tree.owningConnections.filter { nodes.contains(ConnectionID($0).node) }
        goOn(keeping: Set(own.map(\.id.rawValue) + owners))
        chronicle.record(.term(node: rows.node, term: term))
        intake.handshake.record(outcomesOf: waits)
    }

    /// Carries out the actions that this server, which has begun to lead, would have passed on.
    package func carryOutOwed(at now: UInt64) {
        orders.begin(at: now)
        let owed = dispatcher.forwarder.takeOwed(settling: connections.values)
        for action in dispatcher.forwarder.takeAbandoned() {
            dispatcher.suspect(action.ordinal, of: action.session, deaths: action.deaths)
        }
        for (connection, action) in owed {
            if action.deaths > 0, let session = connection.session {
                dispatcher.suspect(action.ordinal, of: session, deaths: action.deaths)
            }
            // The client may have opened other nodes under the numbers since.
            let present = action.nodes.map {
                NodeAlias(
                    id: $0.id, node: connection.openNode($0.id)?.number ?? NodeAlias.noNode)
            }
            openNodes.bind(action.nodes, of: connection)
            connection.inlet.value.countWait(now &- action.arrivedAt)
            intake.receiveAgain(action.frame, of: connection)
            connection.inlet.value.countWait(0)
            openNodes.bind(present, of: connection)
        }
    }

    /// Gives the current turn of a leading server a row, also if it has no change.
    package func keepRow(at now: UInt64) {
        precondition(outcomes.isFollowed, "a server that no other follows keeps a row")
        orders.begin(at: now)
        // The smallest fact: it changes nothing anywhere.
        chronicle.record(.schemas([]))
    }

    /// Cancels all effects of a leading server, since another daemon may lead by now. The end of the
    /// turn tells their clients, here and at other daemons, that the effects are lost.
    package func loseEffects(at now: UInt64) {
        orders.begin(at: now)
        outcomes.loseEffects()
    }

    /// Ends the leadership with the current turn, so that `node` leads next, or any daemon. The
    /// shell reads nothing more and runs no job. Once the turn's row is in the log, it recovers a
    /// server that follows.
    package func stepDown(to node: UInt8?, at now: UInt64) {
        precondition(outcomes.isFollowed, "a server that no other follows steps down")
        holdInput(true, at: now)
        chronicle.record(.stepDown(to: node))
    }

    // MARK: Actions at a following daemon

    /// Passes the actions of clients to the leading daemon from now on, with
    /// ``ServerOutput/forward(_:)``, instead of refusing them.
    package func beginForwarding() { dispatcher.forwarder.enable() }

    /// A link to the daemon that leads in `term` is open: it gets every action without an outcome.
    package func openLink(to term: UInt64, at now: UInt64) {
        orders.begin(at: now)
        dispatcher.forwarder.open(term)
    }

    /// The link to the leading daemon has ended; actions wait for the next one.
    package func closeLink(at now: UInt64) {
        orders.begin(at: now)
        dispatcher.forwarder.close()
    }

    /// The leading daemon has not answered for so long that it considers this one lost: clients that
    /// may own something are closed before others get it.
    package func cutForwarded(at now: UInt64) {
        orders.begin(at: now)
        for id in dispatcher.forwarder.connections {
            guard let connection = connections[id] else { continue }
            dispatcher.forwarder.abandonOwed(of: connection, isGoodbye: false)
            intake.close(
                connection,
                Closing(.cut, "the leading daemon does not answer: connect again"))
        }
    }

    /// Takes what the leading daemon answers, apart from rows.
    package func receive(_ reply: ForwardReply, at now: UInt64) {
        orders.begin(at: now)
        switch reply {
        case .ran(let connection, let ordinal):
            dispatcher.forwarder.ran(ordinal, of: ConnectionID(connection))
        case .refused(let connection, let ordinal, let outcome):
            guard let connection = connections[ConnectionID(connection)],
                let session = connection.session,
                dispatcher.forwarder.refuse(ordinal, of: connection)
            else { return }
            outcomes.pass(outcome, of: ordinal, session)
        case .ended(let connection, let code, let message):
            guard let connection = connections[ConnectionID(connection)] else { return }
            intake.close(connection, Closing(FaultCode(rawValue: code), message))
        }
    }

    /// Takes what the following daemon `node` passes on, if this one leads.
    package func receive(_ request: ForwardRequest, from node: UInt8, at now: UInt64) {
        orders.begin(at: now)
        // A daemon that hands over carries out nothing more: its successor gets the actions again.
        guard !chronicle.isReadOnly, !intake.isHeld else { return }
        for id in remotes.ended(by: request, from: node) { disconnect(id, at: now) }
        remotes.take(request, from: node)
        if case .begin = request { intake.handshake.endWaits(ofAbsent: node) }
    }

    /// The daemon `node` is lost: its clients' connections have ended.
    package func lose(_ node: UInt8, at now: UInt64) {
        orders.begin(at: now)
        guard !chronicle.isReadOnly else { return }
        for id in remotes.absentees(of: node) { disconnect(id, at: now) }
        intake.handshake.endWaits(ofAbsent: node)
    }

    /// Number of actions of this daemon's clients that wait for the leading one.
    package var owedCount: Int { dispatcher.forwarder.owedCount }

    private var remotes: RemoteClients {
        RemoteClients(
            tree: tree, sessions: sessions, connections: connections, peers: peers,
            openNodes: openNodes, dispatcher: dispatcher, intake: intake, orders: orders)
    }

    /// Ends what a connection owns that another daemon has, and that has not acted here.
    func endOwner(_ id: ConnectionID) {
        if !chronicle.isReadOnly, id.node != 0 { tree.endConnection(id.rawValue) }
    }
}
