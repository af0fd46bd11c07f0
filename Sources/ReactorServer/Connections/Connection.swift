import ReactorBytes
import ReactorCore
import ReactorWire

/// A socket, as the server knows it: the peer at its other end, the stage of the conversation, what
/// arrives and what leaves.
///
///     greeting ── open() ──▶ open ── leave() ──▶ leaving ── close() ──▶ closed
///
/// *Place*: in the server's ``ConnectionTable``. *Owner*: the parts of the server, which reach what
/// arrives and leaves through ``inlet`` and ``outlet``; no call that is made while one of the cells is
/// changed comes back to the connection. ``invariants()`` states what holds between two verbs.
final class Connection {
    let id: ConnectionID
    let peer: Peer
    /// Whether the connection was admitted, and when.
    let arrival: Arrival
    /// The stage of the conversation.
    private var stage = Stage.greeting
    /// The session that the client speaks for; none before its hello, and after its goodbye.
    private(set) var session: Session?
    /// The client, as reactors see it.
    private(set) var caller = Caller.daemon
    /// What arrives.
    let inlet = Place(Inlet())
    /// What leaves.
    let outlet = Place(Outlet())
    private let openNodes = Place<[AnyNode?]>([])
    private let followed = Place<[UInt32: Subscription]>([:])
    /// What the client waits for, besides the outcomes of its actions.
    let requests = PendingRequests()

    init(id: ConnectionID, peer: Peer, _ arrival: Arrival = .admitted(at: 0, turn: 0)) {
        self.id = id
        self.peer = peer
        self.arrival = arrival
    }

    /// Whether a connection was admitted.
    enum Arrival: Equatable {
        /// It was accepted at this time, in nanoseconds, when so many turns had ended.
        case admitted(at: UInt64, turn: UInt64)
        /// It gets the reason why it is turned away, and is no connection of its user.
        case turnedAway
    }

    /// Whether it counts among the connections of its user.
    var isAdmitted: Bool { arrival != .turnedAway }

    /// Whether its socket was read since it was accepted; `endedTurns` turns have ended. A shell reads
    /// every socket once between two turns.
    func wasRead(_ endedTurns: UInt64) -> Bool {
        guard case .admitted(_, let turn) = arrival else { return true }
        return turn &+ 1 < endedTurns
    }

    /// Whether the client has not said hello for `nanoseconds`.
    func isSilent(for nanoseconds: UInt64, at now: UInt64) -> Bool {
        guard isGreeting, case .admitted(let time, _) = arrival else { return false }
        return now &- time >= nanoseconds
    }

    /// Bytes that the connection keeps alive: buffers that its queue points into, and input.
    var keptBytes: Int { inlet.value.keptByteCount + outlet.value.keptByteCount }

    /// Nodes by the client's numbers for them.
    var nodes: [AnyNode?] {
        @inline(__always) _read { yield openNodes.value }
        @inline(__always) _modify { yield &openNodes.value }
    }

    /// Subscriptions by slice id.
    var subscriptions: [UInt32: Subscription] {
        @inline(__always) _read { yield followed.value }
        @inline(__always) _modify { yield &followed.value }
    }

    /// The open node that the client knows by `id`.
    func node(_ id: UInt32) -> AnyNode? {
        guard Int(id) < openNodes.value.count, let node = openNodes.value[Int(id)], !node.isGone
        else { return nil }
        return node
    }

    /// Owes every subscription a snapshot: its updates were dropped.
    func oweSnapshots() {
        for id in subscriptions.keys { subscriptions[id]?.owe() }
    }

    /// What holds between two verbs; checked in debug builds.
    @inline(__always)
    private func invariants() {
        assert(!isGreeting || session == nil, "a client has a session before its hello")
        assert(isAdmitted || !isOpen, "a client has a session that was turned away")
        assert(session.map { $0.client == caller.client } ?? true, "the caller is another client")
    }
}

// MARK: - The conversation
extension Connection {
    /// The stages of the conversation.
    private enum Stage {
        /// The client has yet to say hello.
        case greeting
        /// The client has a session.
        case open
        /// Nothing more is read; the socket closes once the client has taken what it is owed.
        indirect case leaving(Leave)
        /// The socket is closed, or its closing is ordered.
        case closed
    }

    /// What is known of a connection that is about to close.
    private struct Leave {
        /// When it began, in nanoseconds; nil for a client that closed its half, and has its time.
        var since: UInt64?
        /// What the client is sent last, behind the snapshots that it is owed.
        var farewell: Closing?
    }

    /// Whether the client has yet to say hello.
    var isGreeting: Bool {
        if case .greeting = stage { true } else { false }
    }

    /// Whether the client has a session, and is read from.
    var isOpen: Bool {
        if case .open = stage { true } else { false }
    }

    /// Whether nothing more is read from the client.
    var isLeaving: Bool {
        switch stage {
        case .greeting, .open: false
        case .leaving, .closed: true
        }
    }

    /// Whether nothing more is sent to the client.
    var isClosed: Bool {
        if case .closed = stage { true } else { false }
    }

    /// Whether frames of it are handled now.
    var isRead: Bool { !isLeaving && inlet.value.state == .reading }

    /// Whether the client was answered everything that it sent.
    var isAnswered: Bool {
        inlet.value.state == .reading && !(session?.isOwed ?? false) && requests.isEmpty
            && !outlet.value.owesSnapshots
    }

    /// When the connection was ordered to leave, in nanoseconds; nil if it was not, or has its time.
    var leavingSince: UInt64? {
        if case .leaving(let leave) = stage { leave.since } else { nil }
    }

    /// Gives the client a session.
    func open(_ session: Session) {
        precondition(isGreeting, "a connection is opened twice")
        stage = .open
        self.session = session
        caller = Caller(
            connection: id.rawValue, client: session.client, uid: peer.uid, gid: peer.gid,
            pid: peer.pid)
        invariants()
    }

    /// Takes the client's session, for which it does not speak any more.
    func takeSession() -> Session? {
        defer { session = nil }
        return session
    }

    /// Begins to leave, unless that has begun.
    func leave(_ farewell: Closing?, at now: UInt64?) {
        if !isLeaving { stage = .leaving(Leave(since: now, farewell: farewell)) }
        invariants()
    }

    /// Limits the time of a client that closed its half.
    func limitLeave(at now: UInt64) {
        guard case .leaving(var leave) = stage, leave.since == nil else { return }
        leave.since = now
        stage = .leaving(leave)
    }

    /// Takes what the client has yet to be sent last.
    func takeFarewell() -> Closing? {
        guard case .leaving(var leave) = stage, let farewell = leave.farewell else { return nil }
        leave.farewell = nil
        stage = .leaving(leave)
        return farewell
    }

    /// Ends the conversation.
    func close() { stage = .closed }
}

/// What a client waits for, besides the outcomes of its actions.
final class PendingRequests {
    /// Requests whose answers wait, or are sent in parts.
    private var questions: [UInt64] = []
    /// Questions about the past that wait for their answers.
    private(set) var inquiryCount = 0
    /// Subscriptions that wait for the journal.
    private(set) var parkedCount = 0

    /// Whether the client waits for nothing.
    var isEmpty: Bool { questions.isEmpty && inquiryCount == 0 && parkedCount == 0 }

    /// Requests whose answers wait, or are sent in parts.
    var questionCount: Int { questions.count }

    /// Whether the answer to request `number` waits, or is sent in parts.
    func contains(_ number: UInt64) -> Bool { questions.contains(number) }

    /// Records a question.
    func ask(_ number: UInt64) { questions.append(number) }

    /// Records that a question was answered, or will not be.
    func endQuestion(_ number: UInt64) {
        guard let index = questions.firstIndex(of: number) else { return }
        questions.remove(at: index)
    }

    /// Drops every question, though not those that another thread works on.
    func dropQuestions() { questions = [] }

    /// Records a question about the past.
    func inquire() { inquiryCount += 1 }

    /// Records that a question about the past was answered.
    func endInquiry() {
        precondition(inquiryCount > 0, "a question about the past is answered twice")
        inquiryCount -= 1
    }

    /// Records a subscription that waits for the journal.
    func park() { parkedCount += 1 }

    /// Records that the journal has answered for a subscription.
    func unpark() {
        precondition(parkedCount > 0, "a subscription is answered twice")
        parkedCount -= 1
    }
}

/// How a connection follows a slice.
struct Subscription {
    /// Which snapshot the client is owed.
    private(set) var debt: Debt
    /// Whether a value that the client has is brought up to date by patches.
    let takesPatches: Bool

    /// What a client is owed of the slice: deltas were dropped, or none has been sent.
    enum Debt {
        /// Nothing: it gets the updates.
        case none
        /// A snapshot, or a value.
        case snapshot
        /// One that replaces what the client kept from another history.
        case freshSnapshot
    }

    init(owing debt: Debt = .none, takesPatches: Bool = false) {
        self.debt = debt
        self.takesPatches = takesPatches
    }

    /// Whether a snapshot (or value) is owed.
    var isSnapshotOwed: Bool { debt != .none }

    /// Owes the client a snapshot, because updates were dropped.
    mutating func owe() {
        if debt == .none { debt = .snapshot }
    }

    /// Records that the snapshot was queued.
    mutating func pay() { debt = .none }
}
