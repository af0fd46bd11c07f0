public import ReactorBytes
public import ReactorCore
import ReactorThreads

/// A client's half of the conversation: bytes, ticks and requests in, bytes and orders out.
///
/// *Place*: a shell (``LoopClient``, a simulation) tells it what the socket and the clock do, and
/// after each such call carries out ``takeOutputs()`` and writes ``takeOutgoing()``. It opens no
/// socket, reads no clock and starts no thread.
///
/// *Owner*: one thread. Completions run inside ``receive(_:)`` and its siblings and may ask for
/// more; they may not call those again.
public final class ClientMachine {
    /// What it was told about itself.
    public let options: ClientOptions
    /// What the daemon said when the connection at hand, or the last one, began.
    public internal(set) var welcome: Welcome?
    /// How many sockets have been open so far, one after the other.
    public internal(set) var connectionCount: UInt64 = 0
    /// Told of news about actions whose outcome was told before: ordinal and news.
    public var onNotice: ((UInt64, Notice) -> Void)?
    /// Told when the daemon turns out to have lost a part of its past: the revision that mirrors
    /// showed, and the one that they show now.
    public var onRollback: ((_ from: Revision, _ to: Revision) -> Void)?
    /// Told whenever ``phase`` changes.
    public var onPhase: ((ClientPhase) -> Void)?
    let random: () -> UInt64
    let board: MirrorBoard
    /// Keeps what has no outcome; absent where the program did not ask for it, or has ended.
    var journal: ClientJournal?

    // MARK: The connection
    var stage = Stage.idle {
        didSet {
            if case .live = stage { lane.value.isLive = true } else { lane.value.isLive = false }
        }
    }
    /// Attempts to connect since the last that led somewhere.
    var attempts = 0
    /// Nanoseconds of the pause that was drawn last.
    var lastPause: UInt64 = 0
    /// Nanoseconds of pauses before the first welcome in which the daemon was too busy for one.
    var busyPauses: UInt64 = 0
    /// Whether the next pause is one of those.
    var isWaitingOutBusy = false
    /// What the daemon said before it closed.
    var closing: Closing?
    /// Why the last connection ended on this side's account.
    var fault: ClientFault?
    /// Consecutive refusals because another connection still holds the session.
    var busyCount = 0
    var session: [UInt8]?
    /// The daemon's epoch when it last spoke of ``session``.
    var knownEpoch: UInt64?
    /// The sequence that the daemon told when it first spoke of ``session``, if it did so here.
    var sessionSince: UInt64?
    var starting: ((Result<Welcome, ClientError>) -> Void)?
    /// Calls that wait for a phase.
    var phaseWaiters: [PhaseWaiter] = []

    // MARK: Input
    /// Where the span at hand has the first update frame that no mark has completed.
    var stagedStart: Int?
    /// The last mark of this connection.
    var markSequence: UInt64 = 0
    /// Whether slices that were live must catch up before anything moves.
    var isResyncing = false
    /// Whether updates were dropped since the last mark: every slice has a snapshot to come.
    var isLagging = false

    // MARK: Output
    /// What every turn touches.
    @usableFromInline let lane = Place(ActionLane())
    /// Actions that wait for room in the window, as whole frames.
    var waiting = WireWriter(capacity: 256)
    var waitingStart = 0
    var sent = SentActions()
    /// Ordinal up to which the daemon was told to forget outcomes.
    var confirmed: UInt64 = 0
    /// Highest ordinal of the session whose action is known to be applied; 0 if none.
    var applied: UInt64 = 0
    /// Who waits for the outcomes of all actions up to an ordinal, in the order of these.
    var draining: [(ordinal: UInt64, then: () -> Void)] = []
    /// Actions that have an outcome only when their effects have ended.
    var awaited = AwaitedActions()
    /// Actions without an outcome that a mirror shows.
    var previewCount = 0
    /// Ordinal up to which the daemon has carried out what it was sent, as far as is known.
    var processed: UInt64 = 0

    /// Actions of an earlier run that have no outcome.
    var recoveredCount = 0
    /// Nodes that those go to.
    var recoveredNodes: [NodeID] = []

    // MARK: Lost pasts
    /// Highest sequence that the daemon spoke of in the epoch at hand.
    var lastSequence: UInt64 = 0
    /// What was known of a past that is lost, until that is told.
    var lostPast: Revision?

    // MARK: Requests
    var lastRequest: UInt64 = 0
    var requests: [UInt64: Request] = [:]
    var nodes = NodeTable()
    var subscriptions: [Subscription] = []
    var leases: [HeldLease] = []
    /// Claims to leases so far.
    var lastClaim: UInt64 = 0
    /// Subscriptions whose first value, or a new one, is staged.
    var arrived: [Subscription] = []
    /// Mirrors that are compared with the daemon.
    var checks: [MirrorCheck] = []
    /// Checksums that were asked for, by the numbers of the requests.
    var checksumRequests: [UInt64: ChecksumRequest] = [:]

    /// Where the conversation stands.
    enum Stage: Equatable {
        case idle
        /// Waiting before the next attempt.
        case pausing
        case connecting
        /// Hello was sent.
        case greeting
        case live
        case ended(ClientError)
    }

    /// A call that waits for a phase.
    struct PhaseWaiter {
        var isMet: (ClientPhase, UInt64) -> Bool
        var then: () -> Void
    }

    /// An outcome that waits for the updates it belongs behind.
    enum HeldOutcome {
        case run(ordinal: UInt64, count: UInt64, sequence: UInt64)
        case single(ordinal: UInt64, Outcome)
        /// The effects of an action have ended.
        case done(ordinal: UInt64)
    }

    /// Makes a machine that does nothing before ``start(_:)``.
    ///
    /// `random` yields random 64-bit numbers, for pauses. `wake` is called on any thread, when the
    /// machine has something for its shell though nothing was asked of it: the last holder of
    /// a mirror let it go.
    ///
    /// It opens no journal: ``ClientOptions/journal`` is its shell's to see to.
    public convenience init(
        _ options: ClientOptions = ClientOptions(), wake: @escaping @Sendable () -> Void = {},
        random: @escaping () -> UInt64
    ) {
        self.init(options, journal: nil, wake: wake, random: random)
    }

    /// Makes a machine that goes on with what is in `journal`, if there is one.
    init(
        _ options: ClientOptions, journal: ClientJournal?,
        wake: @escaping @Sendable () -> Void = {},
        random: @escaping () -> UInt64
    ) {
        self.options = options
        session = options.session
        self.random = random
        self.journal = journal
        board = MirrorBoard(
            TreeEnvironment(post: { _ in }, spawn: options.spawn, clock: options.clock), wake: wake)
        if let journal { takeOver(journal) }
    }

    /// What happened to the client so far.
    public var statistics: ClientStatistics { board.statistics.withLock { $0 } }

    /// How far the conversation is, as users see it.
    public var phase: ClientPhase {
        switch stage {
        case .live: .live
        case .ended(let error): .failed(error)
        case .idle, .pausing, .connecting, .greeting: .connecting
        }
    }

    /// The revision that the mirrors show.
    public var revision: Revision { board.revision.withLock { $0 } }

    /// Actions that have no outcome yet.
    public var pendingCount: Int { pending.inFlight + pending.waitingCount }

    /// What the shell is to do, in order.
    public func takeOutputs() -> [ClientOutput] {
        if outputs.isEmpty { return [] }
        let taken = outputs
        outputs.removeAll(keepingCapacity: true)
        return taken
    }

    /// Whether the shell has something to write or to do.
    public var needsShell: Bool {
        outgoing.count > 0 || !outputs.isEmpty || board.released.isUp || mustKeep
    }

    /// The bytes to be written now, if there are any; call it once a turn.
    public func takeOutgoing() -> OutgoingBytes? {
        leaveReleased()
        if journal != nil, !keepPending() { return nil }
        let count = outgoing.count
        guard count > 0 else { return nil }
        let bytes = outgoing.bytes
        outgoing.removeAll()
        let last = pending.sentEnd &- 1
        if last >= pending.first {
            sent.append(SentActions.Chunk(bytes: bytes, count: count, last: last))
        }
        return OutgoingBytes(bytes: bytes, range: 0..<count)
    }
}

// MARK: - The lane
extension ClientMachine {
    /// Frames for the connection at hand that were not handed to it.
    var outgoing: WireWriter {
        @inline(__always) _read { yield lane.value.outgoing }
        @inline(__always) _modify { yield &lane.value.outgoing }
    }

    var pending: PendingActions {
        @inline(__always) _read { yield lane.value.pending }
        @inline(__always) _modify { yield &lane.value.pending }
    }

    /// Orders for the shell.
    var outputs: [ClientOutput] {
        @inline(__always) _read { yield lane.value.outputs }
        @inline(__always) _modify { yield &lane.value.outputs }
    }

    /// The beginning of a frame whose end has not arrived.
    var partial: [UInt8] {
        @inline(__always) _read { yield lane.value.partial }
        @inline(__always) _modify { yield &lane.value.partial }
    }

    /// Update frames that no mark has completed, from spans before the one at hand.
    var staged: [UInt8] {
        @inline(__always) _read { yield lane.value.staged }
        @inline(__always) _modify { yield &lane.value.staged }
    }

    /// Subscriptions by the numbers of their slices on the connection at hand.
    var slices: [UInt32: Subscription] {
        @inline(__always) _read { yield lane.value.slices }
        @inline(__always) _modify { yield &lane.value.slices }
    }

    /// Who has staged something.
    var touched: [any SliceSink] {
        @inline(__always) _read { yield lane.value.touched }
        @inline(__always) _modify { yield &lane.value.touched }
    }

    /// Outcomes that came before the updates they belong behind.
    var held: [HeldOutcome] {
        @inline(__always) _read { yield lane.value.held }
        @inline(__always) _modify { yield &lane.value.held }
    }

    /// Most actions under way on the connection at hand; 0 if there is none.
    var window: Int {
        get { lane.value.window }
        set { lane.value.window = newValue }
    }

    /// Longest body that the daemon takes.
    var bodyBytesMax: Int {
        get { lane.value.bodyBytesMax }
        set { lane.value.bodyBytesMax = newValue }
    }
}

/// What every turn touches, in one place; nothing that is called while one of these is being changed
/// comes back to it.
@usableFromInline
struct ActionLane: ~Copyable {
    @usableFromInline var outgoing = WireWriter(capacity: 4_096)
    @usableFromInline var pending = PendingActions()
    @usableFromInline var window = 0
    /// Whether an action is being encoded.
    @usableFromInline var isEncoding = false
    /// Longest body that the daemon takes.
    @usableFromInline var bodyBytesMax = WireLimits.frameBytesMax

    var outputs: [ClientOutput] = []
    var partial: [UInt8] = []
    var staged: [UInt8] = []
    var slices: [UInt32: Subscription] = [:]
    var touched: [any SliceSink] = []
    var held: [ClientMachine.HeldOutcome] = []
    /// Whether the stage is the one in which frames of all kinds are exchanged.
    var isLive = false

    init() {}

    /// Whether an action can be written now: there is room, and none waits before it.
    @inlinable
    var isOpen: Bool {
        // because its bytes would land in the middle of the other's
        precondition(!isEncoding, "an action dispatched another while it was being encoded")
        return pending.inFlight < window && pending.next == pending.sentEnd
    }

    /// Whether the frame that starts at `start` is no longer than the daemon takes.
    @inlinable
    func fits(from start: Int) -> Bool {
        outgoing.count &- start <= bodyBytesMax &+ FrameHeader.byteCount
    }
}

/// What the daemon did that no daemon may do; ends the connection, not the client.
struct ClientFault: Error {
    var text: String
    /// Whether it is that nothing came, which a daemon that is stopped cannot help.
    var isSilence = false

    init(_ text: String) { self.text = text }

    /// The daemon said nothing for as long as it may.
    static func silence(_ text: String) -> ClientFault {
        var fault = ClientFault(text)
        fault.isSilence = true
        return fault
    }
}
