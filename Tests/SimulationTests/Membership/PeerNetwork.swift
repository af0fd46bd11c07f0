import ClusterSimulation
import ReactorCluster
import ReactorCore
import ReactorServer
import ReactorTesting
import ReactorWire

/// The links between the nodes of a ``MemberCluster``: each follower has one to the node that leads, as
/// far as it knows.
///
/// *Shape*: messages of a link arrive in order, or not at all once the link has ended. Links are cut at
/// random, and then nothing passes between two nodes for a while.
final class PeerNetwork {
    private let timeline: Timeline
    private let sky: SimulatedSky
    private let fault: MembershipFault?
    private let book: MemberBook
    private let nodes: () -> [MemberNode]
    /// The open link of each follower, by its place.
    private var links: [Int: Link] = [:]
    /// Until when the links of a node are cut.
    private var cutUntil: [Int: UInt64] = [:]
    /// When a follower last had a link.
    private var linkedAt: [Int: UInt64] = [:]
    /// When the leader last had a link with each node, in its term; and the nodes that it has given up.
    private var heard: (term: UInt64, at: [Int: UInt64], lost: Set<Int>) = (0, [:], [])
    /// Number of requests with actions that arrived.
    private(set) var arrivedCount = 0

    /// A link, with the times at which the last messages in either direction arrive.
    private final class Link {
        let leader: Int
        let lives: (Int, Int)
        let term: UInt64
        var isOpen = true
        var lastUp: UInt64 = 0
        var lastDown: UInt64 = 0

        init(to leader: Int, _ lives: (Int, Int), in term: UInt64) {
            (self.leader, self.lives, self.term) = (leader, lives, term)
        }
    }

    /// Nanoseconds without a link after which a leader ends what a node's clients own.
    private static let lostAfter: UInt64 = 2_000_000_000
    /// Nanoseconds without a link after which a follower closes those clients.
    private static let silentMax: UInt64 = 1_600_000_000

    init(
        _ timeline: Timeline, _ sky: SimulatedSky, _ fault: MembershipFault?, _ book: MemberBook,
        _ nodes: @escaping () -> [MemberNode]
    ) {
        (self.timeline, self.sky, self.fault, self.book, self.nodes) =
            (timeline, sky, fault, book, nodes)
    }

    /// Begins to connect nodes.
    func start() {
        for (index, node) in nodes().enumerated() {
            node.world.hooks.onForward = { [unowned self] in send($0, from: index) }
            node.world.hooks.onReply = { [unowned self] in send($1, from: index, to: $0) }
        }
        poll()
    }

    /// Lets nothing pass from or to a node for a while.
    func cut(_ node: Int, for time: UInt64) { cutUntil[node] = timeline.now + time }

    private func poll() {
        timeline.after(10_000_000) { [unowned self] in
            for index in nodes().indices { update(index) }
            watch()
            poll()
        }
    }

    private func isCut(_ first: Int, _ second: Int) -> Bool {
        max(cutUntil[first] ?? 0, cutUntil[second] ?? 0) > timeline.now
    }

    /// The place of the node that a follower takes for its leader; nil if it leads, or knows of none.
    private func leader(of index: Int) -> Int? {
        let node = nodes()[index]
        guard !node.isLeading, let leader = node.leader, leader != node.id else { return nil }
        return nodes().firstIndex { $0.id == leader }
    }

    private func update(_ index: Int) {
        let wanted = leader(of: index)
        if let link = links[index] {
            let node = nodes()[link.leader]
            if link.leader == wanted, !isCut(index, link.leader), node.isLeading,
                node.term == link.term, link.lives == (nodes()[index].life, node.life)
            {
                linkedAt[index] = timeline.now
                return
            }
            close(index, link)
        }
        guard let wanted, !isCut(index, wanted), nodes()[wanted].isLeading else {
            return cutClients(of: index)
        }
        let lives = (nodes()[index].life, nodes()[wanted].life)
        let link = Link(to: wanted, lives, in: nodes()[wanted].term)
        links[index] = link
        timeline.after(sky.between(100_000, 5_000_000)) { [unowned self] in
            guard link.isOpen, links[index] === link else { return }
            nodes()[index].server.openLink(to: link.term, at: timeline.now)
            nodes()[index].turnSoon()
        }
    }

    private func close(_ index: Int, _ link: Link) {
        link.isOpen = false
        links[index] = nil
        nodes()[index].server.closeLink(at: timeline.now)
    }

    private func cutClients(of index: Int) {
        guard timeline.now > (linkedAt[index] ?? 0) + Self.silentMax else { return }
        nodes()[index].server.cutForwarded(at: timeline.now)
        nodes()[index].turnSoon()
    }

    /// Ends, on the leader, what clients of nodes own that have had no link for too long.
    private func watch() {
        guard let leader = nodes().firstIndex(where: \.isLeading) else { return }
        let term = nodes()[leader].term
        if heard.term != term { heard = (term, [:], []) }
        for index in nodes().indices where index != leader {
            if links[index]?.leader == leader || heard.at[index] == nil {
                heard.at[index] = timeline.now
                heard.lost.remove(index)
            } else if timeline.now > heard.at[index, default: 0] + Self.lostAfter {
                lose(nodes()[index], on: nodes()[leader], heard.lost.insert(index).inserted)
            }
        }
    }

    private func lose(_ node: MemberNode, on leader: MemberNode, _ isNew: Bool) {
        if isNew {
            guard fault != .keepsLostNodes else { return }
            leader.server.lose(node.id.index, at: timeline.now)
            return leader.turnSoon()
        }
        let owned = leader.server.tree.copyOwnership()().first {
            guard case .own(_, _, let connection, _) = $0 else { return false }
            return connection >> 56 == node.id.index
        }
        if let owned { book.fail("clients of the lost node \(node.id.index) keep \(owned)") }
    }

    private func send(_ request: ForwardRequest, from index: Int) {
        guard let link = links[index], link.isOpen else { return }
        if fault == .losesForwards, case .actions = request, sky.chance(10) { return }
        if fault == .repeatsForwards, sky.chance(10), let next = Self.renumbered(request) {
            deliver(request, over: link, from: index)
            return deliver(next, over: link, from: index)
        }
        deliver(request, over: link, from: index)
    }

    /// A request with one action, under the next ordinal; nil if it has no action, or several.
    private static func renumbered(_ request: ForwardRequest) -> ForwardRequest? {
        guard
            case .actions(let connection, let nodes, var frames, let deaths, let waited) = request,
            let header = try? FrameHeader.decode(
                frames.span, at: 0, frameBytesMax: Int(UInt32.max)),
            frames.count == FrameHeader.byteCount + Int(header.length)
        else { return nil }
        let ordinal = header.number + 1
        for place in 0..<8 {
            frames[12 + place] = UInt8(truncatingIfNeeded: ordinal >> (8 * place))
        }
        return .actions(
            connection: connection, nodes: nodes, frames: frames, deaths: deaths, waited: waited)
    }

    private func deliver(_ request: ForwardRequest, over link: Link, from index: Int) {
        link.lastUp = max(link.lastUp, timeline.now + sky.between(50_000, 2_000_000))
        timeline.after(link.lastUp - timeline.now) { [unowned self] in
            guard link.isOpen, !isCut(index, link.leader) else { return }
            if case .actions = request { arrivedCount += 1 }
            let node = nodes()[link.leader]
            node.server.receive(request, from: nodes()[index].id.index, at: timeline.now)
            node.turnSoon()
        }
    }

    private func send(_ reply: ForwardReply, from leader: Int, to node: UInt8) {
        guard let index = nodes().firstIndex(where: { $0.id.index == node }),
            let link = links[index], link.leader == leader
        else { return }
        link.lastDown = max(link.lastDown, timeline.now + sky.between(50_000, 2_000_000))
        timeline.after(link.lastDown - timeline.now) { [unowned self] in
            guard link.isOpen, links[index] === link, !isCut(index, leader) else { return }
            nodes()[index].server.receive(reply, at: timeline.now)
            nodes()[index].turnSoon()
        }
    }
}
