import ReactorCluster
import ReactorLoop
import TestPrograms

@testable import ReactorDaemon

/// Three nodes of a cluster on one loop, with their peer sockets in a directory.
final class PeerRig {
    let loop: EventLoop
    /// What each node's links reported.
    private(set) var events: [String: [PeerEvent]] = [:]
    private let directory = TestDirectory()
    private var running: [String: ClusterPeers] = [:]

    init() throws { loop = try EventLoop() }

    deinit {
        for peers in running.values { peers.close() }
        loop.close()
    }

    /// The path of a node's peer socket.
    func path(_ name: String) -> String { directory.path(name + ".sock") }

    /// The configuration of a node.
    func config(_ name: String, lostAfter: Duration = .seconds(60)) -> ClusterConfig {
        let nodes = [("a", 1), ("b", 2), ("c", 3)].map {
            ClusterConfig.Member($0.0, ClusterNode($0.1), peer: path($0.0))
        }
        let own = nodes.first { $0.name == name } ?? nodes[0]
        var config = ClusterConfig(name: "house", node: own, engine: "/nowhere", nodes: nodes)
        config.lostAfter = lostAfter
        return config
    }

    /// Starts the links of a node, which listens and records its events.
    @discardableResult
    func start(_ name: String, lostAfter: Duration = .seconds(60)) throws -> ClusterPeers {
        let peers = try ClusterPeers(config(name, lostAfter: lostAfter), on: loop)
        peers.onEvent = { [unowned self] event in events[name, default: []].append(event) }
        try peers.listen()
        running[name] = peers
        return peers
    }

    /// What a node's links reported, without requests and replies.
    func changes(_ name: String) -> [PeerEvent] {
        (events[name] ?? []).filter {
            switch $0 {
            case .request, .reply: false
            default: true
            }
        }
    }

    /// Turns the loop until a condition holds. Returns whether it does; a test without an end fails
    /// by its number of turns.
    func holds(_ condition: () -> Bool) throws -> Bool {
        // Without a timer, a turn in which nothing happens would not end.
        let timer = try LoopTimer(on: loop)
        timer.start(after: .milliseconds(1), every: .milliseconds(1))
        defer { timer.close() }
        for _ in 0..<20_000 {
            if condition() { return true }
            loop.turn(.wait)
        }
        return condition()
    }
}

/// A daemon's side of one link, which the test plays.
final class PlayedPeer {
    private(set) var messages: [PeerMessage] = []
    private(set) var ending: String?
    let connection: PeerConnection

    init(_ connection: PeerConnection) {
        self.connection = connection
        connection.onMessage = { [unowned self] message in messages.append(message) }
        connection.onEnd = { [unowned self] reason in ending = reason }
        connection.begin()
    }

    /// Connects to a socket, and sends a hello.
    convenience init(
        to path: String, on loop: EventLoop, cluster: String = "house", node: UInt8 = 2,
        incarnation: UInt64 = 1
    ) throws {
        self.init(try PeerConnection(to: path, on: loop))
        connection.send(.hello(cluster: cluster, node: node, incarnation: incarnation))
    }

    /// The messages that are no signs of life.
    var others: [PeerMessage] { messages.filter { $0 != .beat } }
}

/// The leading daemon at a peer socket, which the test plays: it welcomes each link.
final class PlayedLeader {
    /// The other side of each link, in the order of their beginning.
    private(set) var links: [PlayedPeer] = []
    private let listener: Listener

    init(at path: String, on loop: EventLoop, term: UInt64) throws {
        listener = try Listener(at: UnixAddress(path), on: loop)
        listener.onAccept = { [unowned self] socket in
            let link = PlayedPeer(PeerConnection(socket))
            link.connection.send(.welcome(term: term))
            links.append(link)
        }
        listener.resumeAccepting()
    }

    deinit { listener.close() }
}
