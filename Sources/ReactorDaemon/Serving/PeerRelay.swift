import ReactorCluster
import ReactorJournal
import ReactorLoop
import ReactorServer
import ReactorWire

/// Carries actions between the servers of a cluster: joins the links with the shell's server.
///
/// *Place*: beside the cluster's seat, if the configuration has links. *Owner*: the loop's thread.
final class PeerRelay {
    private unowned let shell: ServerShell
    private let config: ClusterConfig
    private let peers: ClusterPeers
    private let copies: CopySender
    /// Nanoseconds since the last answered message after which the clients that acted are closed: the
    /// leader ends what they own after ``ClusterConfig/lostAfter``. Checks come each fifth of that
    /// time, about as long after such a message as a whole number of fifths, and the fourth is late
    /// enough.
    private let silenceMax: UInt64
    private let lostAfter: UInt64
    private var isSilent = false
    private var lastCheck: UInt64

    /// Prepares the links of a node, and binds its peer socket.
    ///
    /// *Throws*: as ``ClusterPeers/listen()``.
    init(
        _ config: ClusterConfig, for shell: ServerShell, _ directory: DataDirectory
    ) throws(LoopError) {
        self.shell = shell
        self.config = config
        lostAfter = config.settings.lostAfter
        silenceMax = lostAfter / 10 * 7
        lastCheck = shell.loop.now
        peers = try ClusterPeers(config, on: shell.loop)
        copies = CopySender(of: directory, on: shell.loop.handle)
        try peers.listen()
        peers.onEvent = { [unowned self] in take($0) }
        peers.onBeat = { [unowned self] in
            copies.beat()
            checkSilence()
        }
        peers.onCopy = { [unowned self] in copy(over: $0) }
    }

    /// Has the current server pass on what its clients do. The link is opened again for it.
    func begin() {
        shell.server.beginForwarding()
        peers.update(incarnation: 0, isLeading: false, term: 0, leader: nil)
    }

    /// Follows the leadership.
    func update(_ member: ClusterMember) {
        peers.update(
            incarnation: member.incarnation, isLeading: member.role.isOfLeader, term: member.term,
            leader: member.leader)
    }

    /// Passes what a client does to the leading daemon.
    func send(_ request: ForwardRequest) { peers.send(request: request.wireBytes()) }

    /// Answers another daemon.
    func send(_ reply: ForwardReply, to node: UInt8) {
        peers.send(reply: reply.wireBytes(), to: ClusterNode(node))
    }

    /// Why the actions of this node's clients do not reach the leader; nil if they do, or if this
    /// node leads.
    var obstacle: String? {
        let status = peers.status
        return status.isOpen ? nil : status.obstacle
    }

    /// Ends all links.
    func close() {
        copies.close()
        peers.close()
    }

    /// Sends a copy of the history, if this node knows that it has all rows up to a moment ago.
    private func copy(over connection: PeerConnection) {
        guard !shell.server.isCut else {
            return connection.finish(
                with: .refused("node \(config.node) does not know whether it has all rows"))
        }
        guard shell.seat?.member.unstoredCount ?? 0 == 0 else {
            return connection.finish(
                with: .refused("the disk of node \(config.node) is full, and lacks rows"))
        }
        copies.send(over: connection)
    }

    private func take(_ event: PeerEvent) {
        let (server, now) = (shell.server, shell.loop.now)
        switch event {
        case .opened(let term): server.openLink(to: term, at: now)
        case .closed: server.closeLink(at: now)
        case .joined, .left: break
        case .lost(let node): server.lose(node.index, at: now)
        case .request(let node, let bytes):
            guard let request: ForwardRequest = decoded(bytes, of: node) else { return }
            server.receive(request, from: node.index, at: now)
        case .reply(let bytes):
            guard let reply: ForwardReply = decoded(bytes, of: nil) else { return }
            server.receive(reply, at: now)
        }
    }

    private func decoded<Message: WireCodable>(
        _ bytes: [UInt8], of node: ClusterNode?
    ) -> Message? {
        do throws(WireError) {
            return try Message(wireBytes: bytes.span)
        } catch {
            let name = node.flatMap { config.name(of: $0) } ?? "the leading node"
            shell.onEvent(
                .complaint(
                    "\(name) sent what this version cannot read: \(error); upgrade the nodes to one "
                        + "version", leftOut: 0))
            return nil
        }
    }

    /// Closes clients that may own something before the leader ends that.
    private func checkSilence() {
        let now = shell.loop.now
        let silence = now - min(peers.leaderAnsweredAt, now)
        // A loop that stood still finds its timers due before it reads the answers that have come.
        let stoodStill = now > lastCheck + lostAfter / 2
        lastCheck = now
        guard shell.server.isReadOnly, silence >= silenceMax else {
            isSilent = false
            return
        }
        guard !isSilent, !stoodStill || silence >= lostAfter / 5 * 4 else { return }
        isSilent = true
        shell.server.cutForwarded(at: now)
        shell.loop.turnAgain()
    }
}
