import ReactorCluster
import ReactorLoop

/// The links of following daemons to this one, while it leads.
///
/// *Place*: takes each connection at the node's peer socket. While this node does not lead, it
/// refuses every link. *Owner*: the loop's thread.
final class FollowerLinks {
    /// Maximum connections without a hello; a further one closes the oldest.
    static let strangersMax = 16

    /// Called with the connection of a daemon that wants a copy of the history.
    var onCopy: ((PeerConnection) -> Void)?

    private let config: ClusterConfig
    private let settings: ClusterSettings
    private let loop: EventLoop
    private let events: PeerEvents
    /// Connections without a hello, in the order of their arrival.
    private var strangers: [PeerConnection] = []
    private var links: [ClusterNode: Link] = [:]
    /// The term in which this node leads; nil while it does not.
    private var term: UInt64?
    private var signs: PeerSigns
    /// When ``beat()`` was last called.
    private var lastBeat: UInt64

    private struct Link {
        let connection: PeerConnection
        let number: UInt64
    }

    /// Creates the links of a node that does not lead yet.
    init(_ config: ClusterConfig, on loop: EventLoop, _ events: PeerEvents) {
        self.config = config
        settings = config.settings
        self.loop = loop
        self.events = events
        signs = PeerSigns(of: [], since: 0, lostAfter: settings.lostAfter)
        lastBeat = loop.now
    }

    /// The nodes with a link, in order.
    var nodes: [ClusterNode] { links.keys.sorted() }

    /// Leads in a term, or, with nil, no longer. A change closes all links.
    func lead(in term: UInt64?) {
        guard term != self.term else { return }
        self.term = term
        for link in links.values { link.connection.close() }
        links = [:]
        events.cutFollowers()
        let others = term == nil ? [] : settings.nodes.filter { $0 != settings.node }
        signs = PeerSigns(of: others, since: loop.now, lostAfter: settings.lostAfter)
    }

    /// Takes a connection at the peer socket.
    func accept(_ socket: Connection) {
        let connection = PeerConnection(socket)
        if strangers.count == Self.strangersMax { strangers.removeFirst().close() }
        strangers.append(connection)
        connection.onMessage = { [weak self, unowned connection] message in
            self?.greet(connection, message)
        }
        connection.onEnd = { [weak self, unowned connection] _ in self?.forget(connection) }
        connection.begin()
    }

    /// Sends a reply to a node; drops it if the owner has no event of the node's link.
    func send(reply: [UInt8], to node: ClusterNode) {
        guard let link = links[node], events.joined[node] == link.number else { return }
        link.connection.send(.reply(reply))
    }

    /// Reports nodes without a sign of life as lost. It closes the link of a lost node, and
    /// connections that send no hello.
    func beat() {
        let now = loop.now
        // A loop that stood still finds its timers due before it reads: what has arrived by then
        // counts in the next beat.
        let stoodStill = now > lastBeat + settings.lostAfter / 2
        lastBeat = now
        guard !stoodStill else { return }
        for stranger in strangers where now >= stranger.heardAt + settings.lostAfter {
            forget(stranger)
        }
        for (node, link) in links { signs.hear(node, at: link.connection.heardAt) }
        for node in signs.lost(at: now) {
            leave(node)
            events.enqueue(.lost(node), of: 0)
        }
    }

    /// Closes all connections.
    func close() {
        for link in links.values { link.connection.close() }
        for stranger in strangers { stranger.close() }
        links = [:]
        strangers = []
    }

    private func forget(_ connection: PeerConnection) {
        strangers.removeAll { $0 === connection }
        connection.close()
    }

    /// Takes the first message of a connection.
    private func greet(_ connection: PeerConnection, _ message: PeerMessage) {
        let (cluster, index, incarnation): (String, UInt8, UInt64?)
        switch message {
        case .hello(let name, let node, let number):
            (cluster, index, incarnation) = (name, node, number)
        case .copy(let name, let node): (cluster, index, incarnation) = (name, node, nil)
        default: return forget(connection)
        }
        strangers.removeAll { $0 === connection }
        let node = ClusterNode(validating: index).flatMap { found in
            settings.nodes.contains(found) && found != settings.node ? found : nil
        }
        guard cluster == config.name else {
            return connection.finish(with: .refused("this is a node of cluster \(config.name)"))
        }
        guard let node else {
            return connection.finish(
                with: .refused("node \(index) is none of the other nodes of \(config.name)"))
        }
        guard let incarnation else {
            guard let onCopy else {
                return connection.finish(with: .refused("node \(config.node) gives no copies"))
            }
            return onCopy(connection)
        }
        guard let term else {
            return connection.finish(with: .refused("node \(config.node) does not lead"))
        }
        admit(connection, of: node, incarnation, in: term)
    }

    private func admit(
        _ connection: PeerConnection, of node: ClusterNode, _ incarnation: UInt64, in term: UInt64
    ) {
        links[node]?.connection.close()
        links[node] = Link(connection: connection, number: events.beginLink())
        signs.hear(node, at: connection.heardAt)
        connection.onMessage = { [weak self] message in self?.handle(message, from: node) }
        connection.onEnd = { [weak self] _ in self?.leave(node) }
        connection.send(.welcome(term: term))
        if let link = links[node] {
            events.enqueue(.joined(node: node, incarnation: incarnation), of: link.number)
        }
    }

    private func handle(_ message: PeerMessage, from node: ClusterNode) {
        guard let link = links[node] else { return }
        switch message {
        case .beat: link.connection.send(.beat)
        case .request(let content): events.enqueue(.request(node, content), of: link.number)
        case .hello, .welcome, .refused, .reply, .copy, .file, .part, .copied: leave(node)
        }
    }

    private func leave(_ node: ClusterNode) {
        guard let link = links.removeValue(forKey: node) else { return }
        signs.hear(node, at: link.connection.heardAt)
        link.connection.close()
        events.enqueue(.left(node), of: link.number)
    }
}

/// When a leader last heard of each other node, and which of them it has reported as lost.
struct PeerSigns {
    private var signs: [ClusterNode: (heardAt: UInt64, isLost: Bool)] = [:]
    private let lostAfter: UInt64

    /// Begins at `since` with no sign of any of `nodes`; a node is lost `lostAfter` nanoseconds
    /// after its last sign.
    init(of nodes: [ClusterNode], since: UInt64, lostAfter: UInt64) {
        self.lostAfter = lostAfter
        for node in nodes { signs[node] = (since, false) }
    }

    /// Records a sign of a node at `time`, unless a later one is recorded. A lost node is found
    /// again by a sign after its loss.
    mutating func hear(_ node: ClusterNode, at time: UInt64) {
        guard let sign = signs[node], time > sign.heardAt else { return }
        signs[node] = (time, false)
    }

    /// The nodes that are lost at `now` and were not returned before, in order.
    mutating func lost(at now: UInt64) -> [ClusterNode] {
        let found = signs.filter { !$0.value.isLost && now >= $0.value.heardAt + lostAfter }
        for node in found.keys { signs[node]?.isLost = true }
        return found.keys.sorted()
    }
}
