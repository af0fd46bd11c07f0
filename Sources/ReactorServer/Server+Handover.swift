import ReactorCore
package import ReactorWire

// MARK: - Another process
extension Server {
    /// Leaves all input where it is until this is called with false: another process may take over.
    package func holdInput(_ isHeld: Bool, at now: UInt64) {
        orders.begin(at: now)
        intake.holdInput(isHeld)
        if !isHeld { for connection in connections.inOrder { intake.readOn(connection) } }
    }

    /// Connections from which the shell reads.
    package var readConnections: [ConnectionID] { connections.values.filter(\.isRead).map(\.id) }

    /// All connections, in the order of their arrival.
    package var handedConnections: [ConnectionID] { connections.inOrder.map(\.id) }

    /// Whether a successor may take over: everything that was begun has its end, besides what
    /// clients have not read.
    package var isSettled: Bool {
        admission == .all && nextTurn == .none && delivery.isSettled && !isUnsealed
            && snapshot == nil && orders.isEmpty
    }

    /// Whether clients wait for answers, apart from `connection`.
    package func hasOpenQuestions(besides connection: ConnectionID) -> Bool {
        connections.values.contains { $0.id != connection && !$0.requests.isEmpty }
    }

    private var transfer: ConnectionTransfer {
        ConnectionTransfer(
            tree: tree, sessions: sessions, connections: connections, peers: peers,
            delivery: delivery, outcomes: outcomes, openNodes: openNodes,
            subscriptions: subscriptions, intake: intake)
    }

    /// Everything that a successor needs. `unsent` returns the bytes of a connection that its socket
    /// has not taken; `asker` is the connection that asked for the restart, and `number` its
    /// request. Nothing changes here: if the successor fails, the server continues.
    package func handOver(
        unsent: (ConnectionID) -> [UInt8], asking asker: ConnectionID? = nil, number: UInt64 = 0
    ) -> ServerHandover {
        let (open, transfer) = (connections.inOrder, transfer)
        let ids = Set(open.flatMap { $0.subscriptions.keys }).sorted()
        return ServerHandover(
            revision: tree.revision, lastConnection: highestConnection,
            lastClient: sessions.lastNumber, types: transfer.types,
            slices: ids.compactMap { subscriptions.slice($0).map { transfer.describe($0) } },
            connections: open.map {
                transfer.describe(
                    $0, unsent: unsent($0.id), request: $0.id == asker ? number : nil)
            },
            accounts: intake.quotas.levels.map {
                HandedAccount(uid: $0.uid, actions: $0.actions, journal: $0.journal)
            })
    }

    /// Takes over the connections of a former process, before the first turn ends; `peer` returns
    /// the peer of a connection. A connection that cannot be the same here is closed.
    ///
    /// The server was made with the same `handover`, and rules and quotas are applied.
    package func takeOver(
        _ handover: ServerHandover, at now: UInt64, peer: (HandedConnection) -> Peer
    ) -> TakenConnections {
        orders.begin(at: now)
        sessions.skip(to: handover.lastClient)
        chronicle.record(connection: ConnectionID(handover.lastConnection))
        let transfer = transfer
        let areTypesSame = transfer.types == handover.types
        let slices = Dictionary(uniqueKeysWithValues: handover.slices.map { ($0.id, $0) })
        var taken = TakenConnections()
        for handed in handover.connections {
            let isClosed = transfer.takeOver(
                handed, peer(handed), slices, from: handover.revision.sequence,
                areTypesSame: areTypesSame, at: now)
            taken.count += 1
            if isClosed { taken.closedCount += 1 }
            if let number = handed.restartRequest, !isClosed {
                taken.asker = (ConnectionID(handed.id), number)
            }
        }
        for account in handover.accounts {
            intake.quotas.inherit(
                account.uid, actions: account.actions, journal: account.journal)
        }
        return taken
    }

    /// Answers the request for the restart, between two turns.
    package func answer(
        _ number: UInt64, of connection: ConnectionID, with report: RestartReport, at now: UInt64
    ) {
        orders.begin(at: now)
        guard let connection = connections[connection] else { return }
        answers.answer(number, with: .success(report.wireBytes()), to: connection)
    }
}
