import ReactorBytes
import ReactorCore
import ReactorWire

/// A client's socket in the server: the peer, the stage of the conversation, input and output.
///
///     greeting ── open() ──▶ open ── leave() ──▶ leaving ── close() ──▶ closed
///
/// *Place*: in the server's ``ConnectionTable``. *Owner*: the parts of the server, which use input
/// and output through ``inlet`` and ``outlet``. A call that is made while one of them is being
/// changed never returns to the connection. ``invariants()`` states the invariants.
final class Connection {
    let id: ConnectionID
    private(set) var peer: Peer
    /// Whether and when the connection was admitted.
    let arrival: Arrival
    /// The stage of the conversation.
    private var stage = Stage.greeting
    /// The client's session; nil before its hello, and after its goodbye.
    private(set) var session: Session?
    /// The program's name, as the client states it.
    private(set) var program = ""
    /// The client, as reactors see it.
    private(set) var caller = Caller.daemon
    /// What arrives.
    let inlet = Cell(Inlet())
    /// What leaves.
    let outlet = Cell(Outlet())
    private let openNodes = Cell<[AnyNode?]>([])
    private let followed = Cell<[UInt32: Subscription]>([:])
    /// The class of callers that the peer belongs to; nil if it may do everything.
    private(set) var access: AccessClass?
    /// Open nodes to which the client may not send every action, by its numbers for them. They are
    /// not in ``nodes``, so that the fast path does not find them.
    private(set) var guarded: [UInt32: GuardedNode] = [:]
    /// What the client waits for, besides the outcomes of its actions.
    let requests = PendingRequests()
    /// Actions without an outcome that another daemon carries out.
    private(set) var owed = ActionCount()

    init(
        id: ConnectionID, peer: Peer, _ arrival: Arrival = .admitted(at: 0, turn: 0),
        access: AccessClass? = nil
    ) {
        self.id = id
        self.peer = peer
        self.arrival = arrival
        self.access = access
    }

    /// Whether a connection was admitted.
    enum Arrival: Equatable {
        /// It was accepted at this time, in nanoseconds, when this number of turns had ended.
        case admitted(at: UInt64, turn: UInt64)
        /// It is refused, and only gets the reason; it does not count among its user's connections.
        case turnedAway
        /// Another daemon has its socket, and passes its actions on.
        case remote
    }

    /// Whether its client may act.
    var isAdmitted: Bool { arrival != .turnedAway }

    /// Whether another daemon has its socket. What is sent to it is dropped: the client gets it from
    /// rows.
    var isRemote: Bool { arrival == .remote }

    /// Whether its socket was read since it was accepted; `endedTurns` is the number of ended
    /// turns. A shell reads every socket once between two turns.
    func wasRead(_ endedTurns: UInt64) -> Bool {
        guard case .admitted(_, let turn) = arrival else { return true }
        return turn &+ 1 < endedTurns
    }

    /// Whether the client has not sent a hello for `nanoseconds`.
    func isSilent(for nanoseconds: UInt64, at now: UInt64) -> Bool {
        guard isGreeting, case .admitted(let time, _) = arrival else { return false }
        return now &- time >= nanoseconds
    }

    /// Bytes that the connection keeps alive: input, and buffers that its queue refers to.
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
        openNodes.value.node(id)
    }

    /// Sets the peer's supplementary groups, and its class for them. Those of a remote connection
    /// are as its daemon has reported them.
    func join(_ groups: (ConnectionID) -> [UInt32], _ access: (Peer) -> AccessClass?) {
        if !isRemote { peer.groups = groups(id) }
        self.access = access(peer)
    }

    /// Keeps an open node apart from ``nodes``, or with nil no longer.
    func guardNode(_ id: UInt32, _ node: GuardedNode?) { guarded[id] = node }

    /// Forgets the nodes that are kept apart.
    func forgetGuarded() { guarded = [:] }

    /// The open node that the client knows by `id`, whether it may send every action or not.
    func openNode(_ id: UInt32) -> AnyNode? {
        if let node = node(id) { return node }
        guard let node = guarded[id]?.node, !node.isGone else { return nil }
        return node
    }

    /// Counts actions that another daemon carries out.
    func owe(_ actions: ActionCount) { owed += actions }

    /// Counts actions that have an outcome.
    func settle(_ actions: ActionCount) { owed -= actions }

    /// Marks every subscription as in need of a snapshot: its updates were dropped.
    func requireSnapshots() {
        for id in subscriptions.keys { subscriptions[id]?.owe() }
    }

    /// Checks the invariants, in debug builds.
    @inline(__always)
    private func invariants() {
        assert(!isGreeting || session == nil, "a client has a session before its hello")
        assert(isAdmitted || !isOpen, "a client has a session that was turned away")
        assert(session.map { $0.client == caller.client } ?? true, "the caller is another client")
    }
}

extension [AnyNode?] {
    /// The node at `id`, unless it is gone.
    @inline(__always)
    fileprivate func node(_ id: UInt32) -> AnyNode? {
        guard Int(id) < count, let node = self[Int(id)], !node.isGone else { return nil }
        return node
    }
}

// MARK: - The conversation
extension Connection {
    /// The stages of the conversation.
    private enum Stage {
        /// The client has not sent its hello.
        case greeting
        /// The client has a session.
        case open
        /// The server reads nothing more, and closes the socket after the remaining output.
        indirect case leaving(Leave)
        /// The socket is closed, or the shell has the order to close it.
        case closed
    }

    /// Facts about a connection that is about to close.
    private struct Leave {
        /// When it began, in nanoseconds; nil for a client that closed its half, and whose time is
        /// not limited.
        var since: UInt64?
        /// The last frame for the client, after the snapshots that it needs.
        var farewell: Closing?
    }

    /// Whether the client has not sent its hello.
    var isGreeting: Bool {
        if case .greeting = stage { true } else { false }
    }

    /// Whether the client has a session and the connection is not closing.
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

    /// Whether the server handles its frames now.
    var isRead: Bool { !isLeaving && inlet.value.state == .reading }

    /// Whether every request of the client has its answer.
    var isAnswered: Bool {
        inlet.value.state == .reading && !(session?.isOwed ?? false) && requests.isEmpty
            && owed.count == 0 && !outlet.value.owesSnapshots
    }

    /// When the server began to close the connection, in nanoseconds; nil if it did not, or if the
    /// client's time is not limited.
    var leavingSince: UInt64? {
        if case .leaving(let leave) = stage { leave.since } else { nil }
    }

    /// Maximum bytes of a program's name; a longer one is cut.
    private static let programBytesMax = 64

    /// Gives the client a session; `program` is its name for itself.
    func open(_ session: Session, program: String = "") {
        precondition(isGreeting, "a connection is opened twice")
        stage = .open
        self.program = program.cut(to: Self.programBytesMax)
        self.session = session
        caller = Caller(
            connection: id.rawValue, client: session.client, uid: peer.uid, gid: peer.gid,
            pid: peer.pid)
        invariants()
    }

    /// Takes the session from a connection that does not use it any more.
    func takeSession() -> Session? {
        defer { session = nil }
        return session
    }

    /// Begins to close the connection; does nothing if that has begun.
    func leave(_ farewell: Closing?, at now: UInt64?) {
        if !isLeaving { stage = .leaving(Leave(since: now, farewell: farewell)) }
        invariants()
    }

    /// Begins the deadline of a client that closed its half.
    func limitLeave(at now: UInt64) {
        guard case .leaving(var leave) = stage, leave.since == nil else { return }
        leave.since = now
        stage = .leaving(leave)
    }

    /// Takes the last frame for the client, if it was not sent.
    func takeFarewell() -> Closing? {
        guard case .leaving(var leave) = stage, let farewell = leave.farewell else { return nil }
        leave.farewell = nil
        stage = .leaving(leave)
        return farewell
    }

    /// Ends the conversation.
    func close() { stage = .closed }
}

/// Requests of a client without an answer, apart from actions.
final class PendingRequests {
    /// Requests whose answers wait, or leave in parts.
    private var questions: [UInt64] = []
    /// Number of queries about the past that wait for their answers.
    private(set) var inquiryCount = 0
    /// Number of subscriptions that wait for the journal.
    private(set) var parkedCount = 0
    /// Number of questions that wait for a state of the tree.
    private(set) var barrierCount = 0

    /// Whether there is none.
    var isEmpty: Bool {
        questions.isEmpty && inquiryCount == 0 && parkedCount == 0 && barrierCount == 0
    }

    /// Number of requests whose answers wait, or leave in parts.
    var questionCount: Int { questions.count }

    /// Whether the answer to request `number` waits, or leaves in parts.
    func contains(_ number: UInt64) -> Bool { questions.contains(number) }

    /// Records a request.
    func ask(_ number: UInt64) { questions.append(number) }

    /// Records that a request was answered, or will not be.
    func endQuestion(_ number: UInt64) {
        guard let index = questions.firstIndex(of: number) else { return }
        questions.remove(at: index)
    }

    /// Drops every request, except those that another thread works on.
    func dropQuestions() { questions = [] }

    /// Records a query about the past.
    func inquire() { inquiryCount += 1 }

    /// Records that a query about the past was answered.
    func endInquiry() {
        precondition(inquiryCount > 0, "a question about the past is answered twice")
        inquiryCount -= 1
    }

    /// Records a question that waits for a state of the tree.
    func beginBarrier() { barrierCount += 1 }

    /// Records that such a question was answered.
    func endBarrier() {
        precondition(barrierCount > 0, "a barrier is answered twice")
        barrierCount -= 1
    }

    /// Records a subscription that waits for the journal.
    func park() { parkedCount += 1 }

    /// Records the journal's answer for a subscription.
    func unpark() {
        precondition(parkedCount > 0, "a subscription is answered twice")
        parkedCount -= 1
    }
}

/// A connection's subscription to a slice.
struct Subscription {
    /// The snapshot that the client needs.
    private(set) var debt: Debt
    /// Whether changes of the value are sent as patches.
    let takesPatches: Bool

    /// Why a client needs a snapshot: deltas were dropped, or none has been sent.
    enum Debt: String {
        /// It needs none, and gets the updates.
        case none
        /// A snapshot, or a value.
        case snapshot
        /// A snapshot that replaces the client's state of another history.
        case freshSnapshot
    }

    init(owing debt: Debt = .none, takesPatches: Bool = false) {
        self.debt = debt
        self.takesPatches = takesPatches
    }

    /// Whether a snapshot (or value) is needed.
    var isSnapshotOwed: Bool { debt != .none }

    /// Records that the client needs a snapshot: updates were dropped.
    mutating func owe() {
        if debt == .none { debt = .snapshot }
    }

    /// Records that the snapshot was queued.
    mutating func pay() { debt = .none }
}
