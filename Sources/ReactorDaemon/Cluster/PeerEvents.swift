import DequeModule
import ReactorCluster
import ReactorLoop
import ReactorThreads

/// What a daemon reports about its links to the other daemons of the cluster.
enum PeerEvent: Equatable {
    /// The link to the leader of this term is open.
    case opened(term: UInt64)
    /// The link to the leader has ended.
    case closed
    /// On the leader: a link of `node` is open. It replaces the node's former link, if there is
    /// one.
    case joined(node: ClusterNode, incarnation: UInt64)
    /// On the leader: the link of this node has ended.
    case left(ClusterNode)
    /// On the leader: nothing was heard of this node for ``ClusterConfig/lostAfter``. Reported once
    /// until the node joins again.
    case lost(ClusterNode)
    /// On the leader: a request of a node that has joined.
    case request(ClusterNode, [UInt8])
    /// On a follower: a reply of the leader.
    case reply([UInt8])
}

/// The events of all links, in order, until a job of the loop delivers them.
///
/// *Place*: a ``LeaderLink`` and the ``FollowerLinks`` add events, and the owner of the links takes
/// them. *Owner*: the loop's thread.
///
/// It also knows which links the owner knows: a message of the owner belongs to such a link, and
/// not to a later link that the owner has no event of yet.
final class PeerEvents {
    /// Called with each event, from a job of the loop.
    var onEvent: (PeerEvent) -> Void = { _ in }
    /// The link to the leader that the owner knows to be open.
    private(set) var opened: UInt64?
    /// The links of followers that the owner knows to be open.
    private(set) var joined: [ClusterNode: UInt64] = [:]

    private let loop: EventLoop
    private var waiting: Deque<(event: PeerEvent, link: UInt64)> = []
    private var isPosted = false
    private var lastLink: UInt64 = 0

    /// Creates a queue whose jobs run on `loop`.
    init(on loop: EventLoop) { self.loop = loop }

    /// Returns the number of a further link.
    func beginLink() -> UInt64 {
        lastLink += 1
        return lastLink
    }

    /// Adds an event of a link.
    func enqueue(_ event: PeerEvent, of link: UInt64) {
        waiting.append((event, link))
        guard !isPosted else { return }
        isPosted = true
        let queue = Confined(WeakEvents(self))
        loop.post { queue.open().events?.deliver() }
    }

    /// Ends the link to the leader: its waiting events are dropped, and the owner gets the end of a
    /// link that it knows.
    func cutLeader() {
        waiting.removeAll { !$0.event.isOfLeader }
        if let opened { enqueue(.closed, of: opened) }
    }

    /// Ends the links of all followers: their waiting events are dropped, and the owner gets the
    /// end of each link that it knows.
    func cutFollowers() {
        waiting.removeAll { $0.event.isOfLeader }
        for (node, link) in joined.sorted(by: { $0.key < $1.key }) {
            enqueue(.left(node), of: link)
        }
    }

    /// Drops all events, and delivers no further ones.
    func close() {
        waiting = []
        opened = nil
        joined = [:]
        onEvent = { _ in }
    }

    private func deliver() {
        isPosted = false
        // The owner may cut links while it handles an event.
        while let (event, link) = waiting.popFirst() {
            switch event {
            case .opened: opened = link
            case .closed: opened = nil
            case .joined(let node, _): joined[node] = link
            case .left(let node): joined[node] = nil
            case .lost, .request, .reply: break
            }
            onEvent(event)
        }
    }
}

/// A queue that a posted job does not keep alive.
private final class WeakEvents {
    weak var events: PeerEvents?
    init(_ events: PeerEvents) { self.events = events }
}

extension PeerEvent {
    /// Whether the event is one of a daemon that leads.
    fileprivate var isOfLeader: Bool {
        switch self {
        case .joined, .left, .lost, .request: true
        case .opened, .closed, .reply: false
        }
    }
}
