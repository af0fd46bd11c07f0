import ReactorBytes
import ReactorCore
import ReactorWire

/// Describes the connections of a server for its successor in another process, and takes them over
/// there.
///
/// *Place*: ``Server/handOver(unsent:asking:number:)`` and ``Server/takeOver(_:at:peer:)`` make it of
/// the server's parts, between two turns. A connection that cannot be the same in the successor is
/// closed with DRAINING: its client connects again and resumes.
struct ConnectionTransfer {
    let tree: Tree
    let sessions: SessionTable
    let connections: ConnectionTable
    let peers: PeerAdmission
    let delivery: Delivery
    let outcomes: OutcomeWriter
    let openNodes: OpenNodes
    let subscriptions: Subscriptions
    let intake: Intake

    // Clients read answers as slowly as they like, and the successor gets copies of them.
    /// Bytes of answers being sent up to which a connection is the same in the successor.
    static let answerBytesMax = 1 << 20

    /// The digest of all reactors' names and types. *Cost*: O(nodes).
    var types: UInt64 {
        var forms: Set<[UInt8]> = []
        tree.forEachNode { node in
            var writer = WireWriter()
            writer.text(node.describedName)
            writer.unsigned(node.fingerprint)
            forms.insert(writer.bytes)
        }
        let all = forms.sorted { $0.lexicographicallyPrecedes($1) }.flatMap(\.self)
        return WireChecksum(of: all.span).value
    }

    // MARK: Handing over

    /// Everything about a connection; `unsent` are the bytes that the socket has not taken, `request`
    /// is the number of its request for the restart.
    func describe(
        _ connection: Connection, unsent: [UInt8], request: UInt64?
    ) -> HandedConnection {
        let requests = connection.requests
        let streams = connection.outlet.value.streams
        let isReadingMuch = streams.reduce(0) { $0 + $1.restCount } > Self.answerBytesMax
        let inquiryCount = requests.inquiryCount - (request == nil ? 0 : 1)
        return HandedConnection(
            id: connection.id.rawValue, uid: connection.peer.uid, gid: connection.peer.gid,
            pid: connection.peer.pid, isAtAdminSocket: connection.peer.isAtAdminSocket,
            isAdmitted: connection.isAdmitted, isLeaving: connection.isLeaving,
            isWaiting: inquiryCount > 0 || requests.parkedCount > 0 || requests.barrierCount > 0
                || hasQuestions(connection) || isReadingMuch,
            restartRequest: request, acceptedAt: acceptedAt(connection),
            actionCount: connection.outlet.value.actionCount, program: connection.program,
            session: connection.session.map(describe),
            input: connection.inlet.value.heldBytes,
            output: unsent + output(of: connection, withAnswers: !isReadingMuch),
            state: connection.outlet.value.state.rawValue,
            markedSequence: connection.outlet.value.markedSequence, nodes: nodes(of: connection),
            subscriptions: connection.subscriptions.sorted { $0.key < $1.key }.map {
                HandedSubscription(
                    id: $0.key, debt: $0.value.debt.rawValue, takesPatches: $0.value.takesPatches)
            })
    }

    private func acceptedAt(_ connection: Connection) -> UInt64? {
        guard !connection.isGreeting, case .admitted(let time, _) = connection.arrival else {
            return nil
        }
        return time
    }

    // A large answer that is being sent is part of the output.
    private func hasQuestions(_ connection: Connection) -> Bool {
        connection.requests.questionCount > connection.outlet.value.streams.count
    }

    private func describe(_ session: Session) -> HandedSession {
        HandedSession(
            client: session.client, secret: session.secret, ordinal: session.ordinal,
            formerOrdinal: session.formerOrdinal, isStored: session.isStored,
            awaited: session.awaitedOrdinals)
    }

    private func output(of connection: Connection, withAnswers: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        connection.outlet.value.visitSegments { bytes += $0.bytes[$0.range] }
        guard withAnswers else { return bytes }
        var writer = WireWriter(capacity: 0)
        for stream in connection.outlet.value.streams {
            var rest = stream
            while !rest.isComplete { rest.appendPart(to: &writer, at: 0) }
        }
        return bytes + writer.bytes
    }

    private func nodes(of connection: Connection) -> [HandedNode] {
        connection.nodes.indices.compactMap { index in
            connection.openNode(UInt32(index)).map {
                HandedNode(
                    id: UInt32(index), path: $0.path.components, fingerprint: $0.fingerprint)
            }
        }
    }

    /// A slice that connections follow.
    func describe(_ slice: Slice) -> HandedSlice {
        HandedSlice(
            id: slice.id, path: slice.node.path.components, field: Array(slice.field),
            fingerprint: slice.node.fingerprint, mode: slice.mode,
            selection: slice.selection?.selection, isView: slice.view != nil,
            viewChecksum: slice.view == nil ? nil : slice.lastChecksum)
    }

    // MARK: Taking over

    /// Continues a connection; returns whether it is closed, because not everything is the same
    /// here. `slices` are those of the former process by number.
    func takeOver(
        _ handed: HandedConnection, _ peer: Peer, _ slices: [UInt32: HandedSlice],
        from sequence: UInt64, areTypesSame: Bool, at now: UInt64
    ) -> Bool {
        let connection = make(handed, peer, at: now)
        connections.insert(connection)
        // Read again once the turn of the start has ended.
        _ = connection.inlet.value.pause()
        guard !handed.isLeaving else {
            connection.outlet.value.begin(with: handed.output)
            connection.leave(nil, at: now)
            peers.hear(connection)
            delivery.list(connection)
            return false
        }
        connection.inlet.value.hold(handed.input.span, at: now)
        var isSame = !handed.isWaiting
        if let session = handed.session {
            guard join(connection, session, handed.program) else {
                return close(connection, handed)
            }
            if handed.restartRequest != nil { connection.requests.inquire() }
            isSame = isSame && open(handed.nodes, of: connection)
        }
        var isCurrent = true
        if isSame {
            let state = State(slices: slices, sequence: sequence, areTypesSame: areTypesSame)
            isSame = follow(handed.subscriptions, state, of: connection, &isCurrent)
        }
        guard isSame else { return close(connection, handed) }
        beginOutput(of: connection, handed, isCurrent: isCurrent)
        for ordinal in handed.session?.awaited ?? [] {
            guard let session = connection.session else { break }
            outcomes.endFormerEffects(of: ordinal, session, to: connection)
        }
        return false
    }

    /// The slices of the former process, and what may differ from them here.
    private struct State {
        let slices: [UInt32: HandedSlice]
        let sequence: UInt64
        let areTypesSame: Bool
        let views = ViewVerdicts()
    }

    /// Which views have the value of the former process: many connections may share a slice.
    private final class ViewVerdicts {
        private var all: [UInt32: Bool] = [:]

        func verdict(of slice: UInt32, _ compare: () -> Bool) -> Bool {
            if let known = all[slice] { return known }
            let verdict = compare()
            all[slice] = verdict
            return verdict
        }
    }

    private func make(
        _ handed: HandedConnection, _ peer: Peer, at now: UInt64
    ) -> Connection {
        let id = ConnectionID(handed.id)
        guard handed.isAdmitted else { return Connection(id: id, peer: peer, .turnedAway) }
        return Connection(
            id: id, peer: peer,
            .admitted(at: handed.acceptedAt ?? now, turn: intake.endedTurns),
            access: peers.admit(id, peer))
    }

    /// Gives a connection its session; returns false if the session is another one here.
    private func join(
        _ connection: Connection, _ handed: HandedSession, _ program: String
    ) -> Bool {
        if !handed.isStored {
            sessions.restoreBlank(
                client: handed.client, secret: handed.secret, uid: connection.peer.uid)
        }
        guard let session = sessions.find(handed.secret, uid: connection.peer.uid),
            session.client == handed.client, session.ordinal == handed.ordinal,
            session.connection == nil
        else { return false }
        sessions.join(session, connection.id)
        session.succeed(formerOrdinal: handed.formerOrdinal)
        connection.open(session, program: program)
        peers.hear(connection)
        intake.quotas.join(connection)
        return true
    }

    private func open(_ nodes: [HandedNode], of connection: Connection) -> Bool {
        for handed in nodes {
            guard let node = tree.node(at: SlicePath(handed.path)),
                node.fingerprint == handed.fingerprint, connection.access?.sees(node) ?? true
            else { return false }
            openNodes.put(node, at: Int(handed.id), of: connection)
        }
        return true
    }

    private func follow(
        _ subscriptions: [HandedSubscription], _ state: State, of connection: Connection,
        _ isCurrent: inout Bool
    ) -> Bool {
        for handed in subscriptions {
            guard let slice = state.slices[handed.id],
                let debt = Subscription.Debt(rawValue: handed.debt),
                let node = self.subscriptions.inherit(
                    slice.id, at: SlicePath(slice.path), slice.field, slice.mode, slice.selection,
                    Subscription(owing: debt, takesPatches: handed.takesPatches),
                    isView: slice.isView, of: connection),
                node.fingerprint == slice.fingerprint
            else { return false }
            if mayDiffer(slice, node, state, for: connection) { isCurrent = false }
        }
        return true
    }

    /// Whether a slice may show another value than in the former process.
    private func mayDiffer(
        _ slice: HandedSlice, _ node: AnyNode, _ state: State, for connection: Connection
    ) -> Bool {
        if slice.isView {
            // Other rules may apply, and the next value that is sent is compared to this one: without
            // it, a change of a hidden node would be noticed.
            guard let checksum = slice.viewChecksum else { return true }
            let isSame = state.views.verdict(of: slice.id) {
                subscriptions.slice(slice.id)?.settleValue(as: checksum) ?? false
            }
            return !isSame || !state.areTypesSame
        }
        // The last change of the node may be that of a hidden one, which must not show.
        if slice.mode == .replica, connection.access?.view(of: node) != nil { return true }
        // A derived value is not in the history, and its rule may be another one now.
        let mayDiffer =
            node.isDerived || slice.mode != .replica && (node.showsDerived || !state.areTypesSame)
        return mayDiffer || node.sequence > state.sequence
    }

    private func beginOutput(
        of connection: Connection, _ handed: HandedConnection, isCurrent: Bool
    ) {
        var output = handed.output
        var state = Outlet.State(rawValue: handed.state) ?? .lagging
        if !isCurrent {
            if state != .lagging {
                var writer = WireWriter()
                writer.header(FrameHeader(kind: .lag))
                output += writer.bytes
            }
            state = .lagging
            connection.requireSnapshots()
        }
        connection.outlet.value.begin(
            with: output, state, markedAt: handed.markedSequence, actionCount: handed.actionCount)
        delivery.list(connection)
    }

    /// Closes a connection after the output of the former process; returns true.
    private func close(_ connection: Connection, _ handed: HandedConnection) -> Bool {
        connection.outlet.value.begin(with: handed.output)
        let reason = "the daemon was restarted, and your connection could not be taken over"
        intake.close(connection, Closing(.draining, reason))
        return true
    }
}
