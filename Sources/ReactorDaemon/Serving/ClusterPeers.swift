import ReactorCluster
import ReactorLoop

/// The links between this daemon and the other daemons of its cluster: one to the daemon that
/// leads, or, while this daemon leads, one of each other.
///
///     let peers = try ClusterPeers(config, on: loop)
///     peers.onEvent = { event in take(event) }
///     try peers.listen()
///     peers.update(incarnation: 7, isLeading: false, term: 3, leader: ClusterNode(2))
///     peers.send(request: bytes)
///
/// *Place*: beside the cluster's seat, which reports each change of the leadership. The content of
/// requests and replies is the owner's. *Owner*: the loop's thread. ``onEvent`` is called from a
/// job of the loop, and never from inside a call.
///
/// Requests of one link arrive in order, and so do replies. A link that ends may lose the last ones
/// of both: the owner asks again once a link is open. A cluster whose nodes have no peer socket has
/// no links.
final class ClusterPeers {
    /// Called with each event.
    var onEvent: (PeerEvent) -> Void {
        get { events.onEvent }
        set { events.onEvent = newValue }
    }

    /// Called each time that signs of life are due, after this node's was sent.
    var onBeat: () -> Void = {}

    /// Called with the connection of a daemon that wants a copy of the history.
    var onCopy: ((PeerConnection) -> Void)? {
        get { followers.onCopy }
        set { followers.onCopy = newValue }
    }

    private let config: ClusterConfig
    private let loop: EventLoop
    private let events: PeerEvents
    private let leader: LeaderLink
    private let followers: FollowerLinks
    /// Due when signs of life are sent.
    private let timer: LoopTimer
    private var socket: BoundSocket?

    /// Maximum time between two signs of life on a link; a short ``ClusterConfig/lostAfter`` has
    /// one in each fifth.
    private static let beatIntervalMax = Duration.seconds(1)

    /// Prepares the links of the node that `config` names.
    init(_ config: ClusterConfig, on loop: EventLoop) throws(LoopError) {
        self.config = config
        self.loop = loop
        events = PeerEvents(on: loop)
        leader = try LeaderLink(config, on: loop, events)
        followers = FollowerLinks(config, on: loop, events)
        timer = try LoopTimer(on: loop)
        timer.onFire = { [weak self] in self?.beat() }
        let interval = min(Self.beatIntervalMax, config.lostAfter / 5)
        timer.start(after: interval, every: interval)
    }

    deinit { close() }

    /// Accepts links at the node's peer socket, if it has one.
    ///
    /// *Throws*: as ``BoundSocket``.
    func listen() throws(LoopError) {
        guard socket == nil, !timer.isClosed, let path = config.peer(of: config.settings.node)
        else { return }
        let socket = try BoundSocket(path, makesDirectory: false, on: loop)
        socket.listener.onAccept = { [weak self] connection in
            guard let self else { return connection.close() }
            followers.accept(connection)
        }
        socket.listener.resumeAccepting()
        self.socket = socket
    }

    /// Follows the leadership: call it at each change, and once a second.
    ///
    /// While this node follows a known leader, the link to it is wanted, unless `incarnation` is 0.
    /// Another leader, term or incarnation closes the present link. While this node leads, links of
    /// other nodes are welcome. Events of closed links are dropped, except for their end.
    func update(incarnation: UInt64, isLeading: Bool, term: UInt64, leader: ClusterNode?) {
        guard !timer.isClosed else { return }
        followers.lead(in: isLeading ? term : nil)
        var target: LeaderLink.Target?
        if !isLeading, incarnation > 0, let leader, leader != config.settings.node,
            let path = config.peer(of: leader)
        {
            target = LeaderLink.Target(path: path, term: term, incarnation: incarnation)
        }
        self.leader.follow(target)
        _ = try? socket?.rebindIfLost()
    }

    /// Sends a request to the leader. It is dropped if no link is open, or if the ``PeerEvent`` of
    /// its opening has not been delivered. A content above ``PeerMessage/contentBytesMax`` closes
    /// the link.
    func send(request: [UInt8]) { leader.send(request: request) }

    /// Sends a reply to a follower, under the conditions of ``send(request:)``.
    func send(reply: [UInt8], to node: ClusterNode) { followers.send(reply: reply, to: node) }

    /// The present links.
    var status: PeerLinkStatus {
        PeerLinkStatus(
            isOpen: leader.isOpen, obstacle: leader.obstacle,
            nodes: followers.nodes.compactMap { config.name(of: $0) })
    }

    /// Closes the socket and all links. No event follows.
    func close() {
        events.close()
        timer.close()
        leader.close()
        followers.close()
        socket?.close()
        socket = nil
    }

    /// When this daemon sent the last message that a leader has answered, in the loop's time; at
    /// first when this daemon started.
    var leaderAnsweredAt: UInt64 { leader.answeredAt }

    private func beat() {
        leader.beat()
        followers.beat()
        onBeat()
    }
}

/// The links of a daemon, for `cluster status`.
struct PeerLinkStatus: Equatable, Sendable {
    /// Whether the link to the leader is open.
    var isOpen: Bool
    /// Why the link to the leader is not open; nil if it is, or if none is wanted.
    var obstacle: String?
    /// The names of the nodes with a link to this one.
    var nodes: [String]
}
