import ReactorBytes
import ReactorLoop
import ReactorServer

// MARK: - Another process
extension ServerShell {
    /// Reads nothing and runs no posted job until this is called with false.
    func holdInput(_ isHeld: Bool) {
        holdJobs(isHeld)
        if isHeld {
            for link in links.value.objects { link.pauseReading() }
        } else {
            for id in server.readConnections { links.value[id.rawValue]?.resumeReading() }
        }
        server.holdInput(isHeld, at: loop.now)
        loop.turnAgain()
    }

    /// The sockets of the open connections.
    var handedLinks: [HandedLink] {
        server.handedConnections.compactMap { id in
            links.value[id.rawValue]?.descriptor.map {
                HandedLink(connection: id.rawValue, descriptor: $0)
            }
        }
    }

    /// What the server gives a successor; `inquiry` is the request for the restart.
    func handOver(asking inquiry: Inquiry) -> ServerHandover {
        server.handOver(
            unsent: { links.value[$0.rawValue]?.pendingBytes ?? [] },
            asking: inquiry.connection, number: inquiry.number)
    }

    /// Takes over the connections of a former process; call it before ``begin()``.
    func takeOver(_ handover: ServerHandover, _ handed: [HandedLink]) -> TakenConnections {
        skipConnections(to: handover.lastConnection)
        for link in handed {
            guard let connection = try? Connection(on: loop, adopting: link.descriptor) else {
                continue
            }
            attach(connection, as: ConnectionID(link.connection))
        }
        let taken = server.takeOver(handover, at: loop.now) { handed in
            var peer = Peer(uid: handed.uid, gid: handed.gid, pid: handed.pid)
            peer.isAtAdminSocket = handed.isAtAdminSocket
            if server.readsGroups { peer.groups = links.value[handed.id]?.peerGroups ?? [] }
            return peer
        }
        for id in server.handedConnections where links.value[id.rawValue] == nil {
            server.disconnect(id, at: loop.now)
        }
        return taken
    }

    /// Reads after ``takeOver(_:_:)``, once the first turn has ended.
    func readTaken() {
        server.holdInput(false, at: loop.now)
        loop.turnAgain()
    }
}

// MARK: - Another server
extension ServerShell {
    /// Tells the clients why their connections end. Everything else that the server has ordered ends
    /// with it.
    func dismissClients() {
        let server = server
        server.holdInput(true, at: loop.now)
        // A client that has not got an earlier write gets no reason.
        carryOutWrites(of: server)
        server.dismissClients(at: loop.now)
        carryOutWrites(of: server)
    }

    private func carryOutWrites(of server: Server) {
        while let output = server.nextOutput() {
            if case .write(let id, let slices) = output { write(slices, to: id, of: server) }
        }
    }
}
