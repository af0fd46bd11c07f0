import ReactorBytes
import ReactorCore
import ReactorWire

/// The clients of other daemons, whose actions this server carries out while it leads.
///
///     for connection in remotes.ended(by: request, from: 3) {
///         server.disconnect(connection, at: now)
///     }
///     remotes.take(request, from: 3)
///
/// A client of another daemon has a ``Connection`` here without a socket, under the number that its
/// daemon has given it. Its actions are handled as those of this daemon's clients; what is sent to it
/// is dropped, since its daemon takes outcomes from the rows.
///
/// *Place*: ``Server/receive(_:from:at:)``. It has no state: the connections are in the
/// ``ConnectionTable``, what they own in the tree.
struct RemoteClients {
    let tree: Tree
    let sessions: SessionTable
    let connections: ConnectionTable
    let peers: PeerAdmission
    let openNodes: OpenNodes
    let dispatcher: Dispatcher
    let intake: Intake
    let orders: ShellOrders

    /// The connections that have ended, as a request of the daemon `node` says.
    func ended(by request: ForwardRequest, from node: UInt8) -> [ConnectionID] {
        switch request {
        case .begin(let clients):
            return absentees(of: node, except: Set(clients.map(\.connection)))
        case .connect, .actions: return []
        case .disconnect(let connection, let isGoodbye):
            guard ConnectionID(connection).node == node else { return [] }
            if isGoodbye, let connection = find(connection, of: node) {
                intake.handshake.sayGoodbye(connection)
            }
            return [ConnectionID(connection)]
        }
    }

    /// Carries out a request of the daemon `node`.
    func take(_ request: ForwardRequest, from node: UInt8) {
        switch request {
        case .begin(let clients): for client in clients { connect(client, of: node) }
        case .connect(let client): connect(client, of: node)
        case .actions(let connection, let nodes, let frames, let deaths, let waited):
            guard let connection = find(connection, of: node) else {
                return end(
                    connection, of: node, .cut, "the leading daemon does not know the client")
            }
            connection.inlet.value.countWait(waited)
            run(frames, nodes, deaths, of: connection)
        case .disconnect: break
        }
    }

    /// The connections of a daemon that have ended, as it names only those in `present`: those that
    /// are here, and those that own something.
    func absentees(of node: UInt8, except present: Set<UInt64> = []) -> [ConnectionID] {
        let here = connections.remotes.map(\.id.rawValue)
        return Set(here + tree.owningConnections)
            .filter { ConnectionID($0).node == node && !present.contains($0) }
            .sorted().map { ConnectionID($0) }
    }

    private func find(_ id: UInt64, of node: UInt8) -> Connection? {
        guard let connection = connections[ConnectionID(id)], connection.id.node == node,
            connection.isRemote, connection.isOpen
        else { return nil }
        return connection
    }

    private func connect(_ client: RemoteClient, of node: UInt8) {
        let id = ConnectionID(client.connection)
        guard id.node == node else { return }
        if let known = connections[id] {
            // The daemon has not got the reason for the end.
            if known.isClosed { end(client.connection, of: node, .cut, "it was closed before") }
            return
        }
        if sessions.find(client: client.client) == nil, !sessions.isKnown(client.secret) {
            guard client.ordinal == 0 else {
                return end(client.connection, of: node, .kicked, "the session has ended")
            }
            intake.handshake.adopt(client)
        }
        guard let session = sessions.find(client: client.client), session.connection == nil,
            session.secret == client.secret, session.uid == client.uid
        else {
            return end(
                client.connection, of: node, .sessionBusy,
                "the session is in use elsewhere: start a new one")
        }
        if session.source != id { intake.handshake.endWaits(of: session) }
        let connection = Connection(
            id: id, peer: client.peer, .remote, access: peers.access(of: client.peer))
        connections.insert(connection)
        sessions.join(session, id)
        connection.open(session, program: client.program)
        intake.quotas.join(connection)
    }

    private func end(
        _ connection: UInt64, of node: UInt8, _ code: FaultCode, _ message: String
    ) {
        orders.append(
            .reply(
                node, .ended(connection: connection, code: code.rawValue, message: message)))
    }

    private func run(
        _ frames: [UInt8], _ nodes: [NodeAlias], _ deaths: UInt64, of connection: Connection
    ) {
        openNodes.bind(nodes, of: connection)
        let ordinals = Self.ordinals(frames)
        guard let last = ordinals.last, let session = connection.session else { return }
        if deaths > 0, ordinals[0] > session.ordinal {
            dispatcher.suspect(ordinals[0], of: session, deaths: deaths)
        }
        intake.receive(connection, frames.span)
        // What the connection has not read is not carried out.
        guard connection.isRead else { return }
        orders.append(
            .reply(
                connection.id.node, .ran(connection: connection.id.rawValue, ordinal: last)))
    }

    private static func ordinals(_ frames: [UInt8]) -> [UInt64] {
        var ordinals: [UInt64] = []
        var offset = 0
        while let header = try? FrameHeader.decode(
            frames.span, at: offset, frameBytesMax: Int(UInt32.max))
        {
            ordinals.append(header.number)
            offset += FrameHeader.byteCount + Int(header.length)
        }
        return ordinals
    }
}
