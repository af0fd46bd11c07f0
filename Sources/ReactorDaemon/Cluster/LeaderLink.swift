import ReactorCluster
import ReactorLoop

/// The link of a following daemon to the daemon that leads.
///
/// *Place*: on each node, for the time in which it follows a known leader. After each end of the
/// link, it connects again. *Owner*: the loop's thread.
final class LeaderLink {
    /// The daemon to which a link is wanted.
    struct Target: Equatable {
        /// The path of the Unix socket at which the daemon, or a tunnel to it, accepts.
        var path: String
        /// The term in which the daemon leads.
        var term: UInt64
        /// The number of the start of this node's daemon.
        var incarnation: UInt64
    }

    /// The pause before a further attempt to connect.
    static let pause = Duration.milliseconds(100)

    /// Why the last attempt or the last link ended; nil while the link is open.
    private(set) var obstacle: String?
    /// Whether the link is open.
    private(set) var isOpen = false
    /// When this daemon sent the last message that a leader has answered, on this link or an earlier
    /// one: that leader has heard of this daemon then, or later. What comes without a message of this
    /// daemon shows nothing, as the network may carry bytes one way.
    private(set) var answeredAt: UInt64

    private let cluster: String
    private let node: ClusterNode
    /// Nanoseconds without any sign of the leader after which the link is closed.
    private let silenceMax: UInt64
    private let loop: EventLoop
    private let events: PeerEvents
    /// Due when the link tries again to connect.
    private let timer: LoopTimer
    private var target: Target?
    private var connection: PeerConnection?
    /// When the hello and the signs of life of the present link were sent that have no answer, in
    /// their order, which is that of the answers.
    private var unanswered: [UInt64] = []
    private var number: UInt64 = 0

    /// Creates a link that is not wanted yet.
    ///
    /// A link on which nothing comes is closed after four fifths of ``ClusterConfig/lostAfter``.
    init(_ config: ClusterConfig, on loop: EventLoop, _ events: PeerEvents) throws(LoopError) {
        let settings = config.settings
        cluster = config.name
        node = settings.node
        silenceMax = settings.lostAfter / 5 * 4
        self.loop = loop
        self.events = events
        answeredAt = loop.now
        timer = try LoopTimer(on: loop)
        timer.onFire = { [weak self] in self?.connect() }
    }

    deinit { timer.close() }

    /// Links this daemon to `wanted`, or to no daemon. Another target closes the present link.
    func follow(_ wanted: Target?) {
        guard wanted != target, !timer.isClosed else { return }
        target = wanted
        timer.stop()
        drop()
        events.cutLeader()
        obstacle = nil
        if wanted != nil { connect() }
    }

    /// Sends a request to the leader; drops it if the owner has no event of an open link.
    func send(request: [UInt8]) {
        guard isOpen, events.opened == number else { return }
        connection?.send(.request(request))
    }

    /// Sends a sign of life, and closes a link without one of the leader, or without an answer.
    func beat() {
        guard let connection else { return }
        let (now, heardAt) = (loop.now, connection.heardAt)
        guard now < heardAt + silenceMax else {
            return retry(after: "no sign of the leader for \((now - heardAt) / 1_000_000) ms")
        }
        // A former version of the leader sends its signs at its own times, and may leave some out.
        if let first = unanswered.first, now >= first + silenceMax {
            return retry(after: "no answer of the leader for \((now - first) / 1_000_000) ms")
        }
        guard isOpen else { return }
        connection.send(.beat)
        unanswered.append(now)
    }

    /// Ends the link for good.
    func close() {
        target = nil
        drop()
        timer.close()
    }

    private func connect() {
        guard let target, connection == nil else { return }
        number = events.beginLink()
        do throws(LoopError) {
            let connection = try PeerConnection(to: target.path, on: loop)
            self.connection = connection
            connection.onMessage = { [weak self] message in self?.take(message) }
            connection.onEnd = { [weak self] reason in self?.retry(after: reason) }
            connection.begin()
            connection.send(
                .hello(cluster: cluster, node: node.index, incarnation: target.incarnation))
            unanswered = [loop.now]
        } catch {
            retry(after: "\(error)")
        }
    }

    private func take(_ message: PeerMessage) {
        switch message {
        case .beat: noteAnswer()
        case .welcome(let term) where !isOpen:
            // The leader, or this node, learns of a new term a moment before the other.
            guard let target, term == target.term else {
                return retry(after: "the other daemon leads in term \(term)")
            }
            isOpen = true
            obstacle = nil
            noteAnswer()
            events.enqueue(.opened(term: term), of: number)
        case .reply(let content) where isOpen: events.enqueue(.reply(content), of: number)
        case .refused(let reason): retry(after: reason)
        case .hello, .welcome, .request, .reply, .copy, .file, .part, .copied:
            retry(after: "the other daemon sent a message out of place")
        }
    }

    private func noteAnswer() {
        guard !unanswered.isEmpty else { return }
        answeredAt = max(answeredAt, unanswered.removeFirst())
    }

    private func retry(after reason: String) {
        if isOpen { events.enqueue(.closed, of: number) }
        drop()
        obstacle = reason
        timer.start(after: Self.pause)
    }

    private func drop() {
        connection?.close()
        connection = nil
        isOpen = false
    }
}
