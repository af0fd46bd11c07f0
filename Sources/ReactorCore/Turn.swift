public import ReactorBytes
import ReactorWire

/// What one pass of the loop does to a tree: deltas, sequence numbers, and everything that a
/// transaction may ask for on the way.
///
/// *Place*: owned by a ``Tree``; nodes write into it, the server reads it when the turn ends.
public final class Turn {
    // because a mutation that encodes itself is handed nothing by which it could come back here: no
    // two accesses overlap
    /// Delta frames of this turn, in the order of their sequences: these bytes travel, rest and
    /// replay.
    @usableFromInline let deltas: Place<WireWriter>
    /// Sequence of the last applied transaction.
    var lastSequence: UInt64
    /// The history that the sequences are of.
    public internal(set) var epoch: UInt64
    /// Whether deltas are encoded; a store that nobody watches from outside needs none.
    @usableFromInline let recordsDeltas: Bool
    /// Whether a client tries an action on its mirror.
    var isPreview = false
    /// Whether the decision that is tried read what the daemon alone knows.
    var asksDaemon = false

    var caller = Caller.daemon
    var origin = Origin.daemon

    /// Counts turns, so that a node knows whether it is listed in ``touched``.
    var number: UInt64 = 1
    /// What the turn has for others than the callers of its actions.
    let newsPlace = Place(News())
    var news: News {
        @inline(__always) _read { yield newsPlace.value }
        @inline(__always) _modify { yield &newsPlace.value }
    }
    // because a turn is a part of its tree: it never outlives it
    weak var home: Tree?
    var tree: Tree {
        guard let home else { preconditionFailure("a turn is used without its tree") }
        return home
    }

    /// Whether the transaction at hand asked for anything beyond mutations.
    var isEventful = false
    var reply: WireEmbedded? { didSet { isEventful = true } }
    var isReplyDeferred = false { didSet { isEventful = true } }
    /// Whether the action at hand went into a stream.
    var isAccepted = false { didSet { isEventful = true } }
    /// Answers to deferred replies that the transaction at hand gives.
    var answers: [Resolution] = []
    /// Followers that the transaction at hand asks for.
    var wishes: [(path: SlicePath, action: WireEmbedded)] = []
    var ownerships: [OwnershipFact] = []
    /// Promises of the transaction at hand.
    var tasks: [TaskFact] = []
    /// Effects that the transaction at hand ends.
    var cancellations: [EffectCancellation] = []
    var cancelled: [EffectID] = []
    /// Nodes that the transaction at hand removes.
    var leaving: [AnyNode] = []
    /// Under which name a client may cancel what the action at hand starts.
    var cancelScope: CancelScope?
    /// Followers still to run, in order.
    var followers: [Follower] {
        @inline(__always) _read { yield followersPlace.value }
        @inline(__always) _modify { yield &followersPlace.value }
    }
    private let followersPlace = Place<[Follower]>([])
    /// How the transaction at hand is taken back; only a batch keeps it.
    var undo: [() -> Void] = []
    /// What the transaction at hand changes, and how large it was before; only where a transaction
    /// may not make the tree larger.
    var scales: Scales?
    /// What takes back the claims of the transaction at hand, if it comes to nothing.
    var withdrawals: [() -> Void] = []
    /// Attempts under way, one inside another: only there a claim may come to nothing.
    var attemptDepth = 0
    /// Where the delta that is being written starts.
    var deltaStart = 0
    /// Reactions under way, one inside another.
    var reactionDepth = 0
    /// Whether the tree has hardly any room for more effects.
    var isCrowded = false
    /// Why the transaction at hand has to be taken back, though its action was decided.
    var refusal: Rejection?
    /// Reactions of the transaction numbered ``reactionSequence``.
    private var reactionCount = 0
    private var reactionSequence: UInt64 = 0
    /// Whether nodes may take the short way: no batch is under way.
    var isPlain = true { didSet { weighWay() } }
    /// The snapshot that is being taken; what changes meanwhile is saved in it before.
    var snapshot: TreeSnapshot? { didSet { weighWay() } }
    /// Whether an action may not leave its answer for later: its client waits for too many.
    var refusesWaits = false { didSet { weighWay() } }
    @usableFromInline let shortPlace = Place(true)
    /// Whether ``facts`` are listed, for a journal.
    public var recordsFacts = false

    init(epoch: UInt64, sequence: UInt64, recordsDeltas: Bool) {
        self.epoch = epoch
        lastSequence = sequence
        self.recordsDeltas = recordsDeltas
        deltas = Place(WireWriter(capacity: recordsDeltas ? 1 << 16 : 0))
    }

    /// Sequence of the last applied transaction.
    public var sequence: UInt64 { lastSequence }

    /// A delta of a replicated node.
    public struct Change {
        /// The node that changed.
        public let node: AnyNode
        /// First byte of the frame's header among the turn's deltas.
        public let start: Int
        /// One past the frame's last byte.
        public let end: Int
    }

    struct Follower {
        var path: SlicePath
        var action: WireEmbedded
        var origin: Origin
        var depth: Int
    }
}

// MARK: - Writing deltas
extension Turn {
    /// Begins the delta of `node` in the transaction at hand; its mutations are written next.
    @usableFromInline
    func beginDelta(of node: AnyNode) {
        deltaStart = deltas.value.beginFrame(.delta, id: node.number, number: lastSequence &+ 1)
        origin.encode(into: &deltas.value)
    }

    /// Ends the delta.
    ///
    /// *Throws*: ``Rejection`` if it is too large; nothing of it is kept then.
    @usableFromInline
    func endDelta(of node: AnyNode) throws(Rejection) {
        let start = deltaStart
        let end = deltas.value.count
        if end &- start > CoreLimits.deltaBytesMax {
            deltas.value.truncate(to: start)
            try checkSize(end &- start, of: node)
        }
        deltas.value.endFrame(at: start)
        if node.isReplicated { news.changes.append(Change(node: node, start: start, end: end)) }
    }

    /// Whether an action may take the short way: no batch and no snapshot is under way, and nothing
    /// stands between the action and the reactor's own functions.
    @inlinable
    func isShort(for node: AnyNode) -> Bool { shortPlace.value && !node.longWayPlace.value }

    private func weighWay() {
        shortPlace.value = isPlain && snapshot == nil && !refusesWaits
    }
}

// MARK: - Reading a turn
extension Turn {
    /// What a turn gathers besides deltas; nothing, in most turns.
    struct News {
        var changes: [Change] = []
        var touched: [AnyNode] = []
        var removed: [AnyNode] = []
        /// Answers to actions whose reply was deferred.
        var resolutions: [Resolution] = []
        var effects: [PendingEffect] = []
        var failures: [LateFailure] = []
        var complaints: [String] = []
        var facts: [NodeFact] = []

        var isEmpty: Bool {
            changes.isEmpty && touched.isEmpty && removed.isEmpty && resolutions.isEmpty
                && effects.isEmpty && failures.isEmpty && complaints.isEmpty && facts.isEmpty
        }

        mutating func removeAll() {
            changes.removeAll(keepingCapacity: true)
            touched.removeAll(keepingCapacity: true)
            removed.removeAll()
            resolutions.removeAll()
            effects.removeAll()
            failures.removeAll()
            complaints.removeAll()
            facts.removeAll()
        }
    }

    /// Whether the turn has nothing but outcomes and deltas that nobody follows.
    public var isQuiet: Bool { news.isEmpty }

    /// Where deltas of replicated nodes stand among the turn's.
    public var changes: [Change] { news.changes }

    /// Nodes that changed where they or one above them are watched, each once a turn.
    public var touched: [AnyNode] { news.touched }

    /// Nodes that this turn removed.
    public var removed: [AnyNode] { news.removed }

    /// Effects that start when their transactions are committed.
    public var effects: [PendingEffect] { news.effects }

    /// What went wrong for actions after their outcomes were decided.
    public var failures: [LateFailure] { news.failures }

    /// What went wrong without a caller to tell: for the log.
    public var complaints: [String] { news.complaints }

    /// What a journal needs besides deltas; only where ``recordsFacts`` says so.
    public var facts: [NodeFact] { news.facts }

    /// Bytes of the delta frames so far.
    public var deltaByteCount: Int { deltas.value.count }

    /// Appends a frame without a body behind the deltas.
    public func append(_ header: FrameHeader) { deltas.value.header(header) }

    /// Lends the delta frames so far to `body`, which dispatches nothing meanwhile.
    public func withDeltas<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try deltas.value.withBytes(body)
    }

    /// The delta frames so far. *Cost*: copies them.
    public var deltaBytes: [UInt8] { deltas.value.bytes }
}

// MARK: - What a transaction may ask for
extension Turn {
    /// Takes what waits for the commit.
    func takeEffects() -> [PendingEffect] {
        let taken = news.effects
        news.effects.removeAll(keepingCapacity: true)
        return taken
    }

    /// Tells the log what went wrong without a caller to tell.
    func complain(_ text: String) { news.complaints.append(text) }

    func answer(_ ticket: ReplyTicket, reply: WireEmbedded) {
        isEventful = true
        answers.append(
            Resolution(
                ticket: ticket,
                outcome: .applied(sequence: lastSequence &+ 1, reply: reply, ownerEnded: false)))
    }

    func refuse(_ ticket: ReplyTicket, _ rejection: Rejection) {
        isEventful = true
        answers.append(
            Resolution(
                ticket: ticket,
                outcome: .rejected(code: rejection.code, message: rejection.message)))
    }

    func own(
        _ node: UInt32, _ key: WireKey, connection: UInt64, definesLifecycle: Bool? = nil
    ) {
        isEventful = true
        ownerships.append(
            .own(
                node: node, key: key, connection: connection, definesLifecycle: definesLifecycle))
    }

    func disown(_ node: UInt32, _ key: WireKey, connection: UInt64) {
        isEventful = true
        ownerships.append(.disown(node: node, key: key, connection: connection))
    }

    func follow(_ path: SlicePath, _ action: WireEmbedded) {
        isEventful = true
        wishes.append((path, action))
    }

    /// Lists a node as changed, once a turn, because it or one above it is watched.
    func note(_ node: AnyNode) {
        node.notedTurn = number
        news.touched.append(node)
    }

    /// Most bytes of room for deltas that are kept for the next turn.
    private static let deltaBytesKeptMax = 1 << 20

    /// Starts the next turn: forgets what the last one collected, and keeps the capacities.
    ///
    /// The caller has taken what it needs of the deltas and the lists before.
    public func begin() {
        number &+= 1
        deltas.value.removeAll(keepingAtMost: Self.deltaBytesKeptMax)
        if !news.isEmpty { news.removeAll() }
    }
}

// MARK: - Ending a transaction
extension Turn {
    /// Makes what the transaction at hand asked for effective; its followers stand `depth` below
    /// the action that started the chain.
    func settle(depth: Int) {
        guard isEventful else { return }
        for change in ownerships { note(change) }
        for task in tasks { note(task) }
        for cancellation in cancellations { tree.carryOut(cancellation) }
        for id in cancelled { tree.cancelEffect(id) }
        for wish in wishes {
            followers.append(
                Follower(path: wish.path, action: wish.action, origin: origin, depth: depth))
        }
        for node in leaving { tree.forget(node) }
        news.removed.append(contentsOf: leaving)
        news.resolutions.append(contentsOf: answers)
        clearRequests()
    }

    /// Makes a change of who owns what effective.
    func note(_ fact: OwnershipFact) {
        tree.ownership.apply(fact)
        if recordsFacts { news.facts.append(.ownership(fact)) }
    }

    /// Forgets what the transaction at hand asked for.
    func clearRequests() {
        answers.removeAll(keepingCapacity: true)
        wishes.removeAll(keepingCapacity: true)
        ownerships.removeAll(keepingCapacity: true)
        tasks.removeAll(keepingCapacity: true)
        cancellations.removeAll(keepingCapacity: true)
        cancelled.removeAll(keepingCapacity: true)
        leaving.removeAll(keepingCapacity: true)
        reply = nil
        isReplyDeferred = false
        isAccepted = false
        isEventful = false
    }

    /// What a batch may have added, so that it can be taken back.
    struct Mark {
        var bytes: Int
        var changes: Int
        var effects: Int
        var reactionSequence: UInt64
        var reactionCount: Int
    }

    var mark: Mark {
        Mark(
            bytes: deltas.value.count, changes: changes.count, effects: effects.count,
            reactionSequence: reactionSequence, reactionCount: reactionCount)
    }

    /// Keeps when `node` and those above it changed last, for the case of a roll-back.
    func saveSequences(of node: AnyNode) {
        var saved: [(node: AnyNode, sequence: UInt64)] = []
        var next: AnyNode? = node
        while let node = next {
            saved.append((node, node.sequence))
            next = node.parent
        }
        undo.append { for entry in saved { entry.node.changedSequence = entry.sequence } }
    }

    /// Takes back what the transaction at hand changed and asked for.
    func rollBack(to mark: Mark) {
        while let step = undo.popLast() { step() }
        deltas.value.truncate(to: mark.bytes)
        news.changes.removeSubrange(mark.changes...)
        news.effects.removeSubrange(mark.effects...)
        refusal = nil
        // because what never came to be has used up nothing
        reactionSequence = mark.reactionSequence
        reactionCount = mark.reactionCount
        clearRequests()
    }
}

extension Turn {
    /// Does what may be refused, and takes back what it changed where it is.
    func reversibly(_ body: () throws(Rejection) -> Void) throws(Rejection) {
        let mark = mark
        isPlain = false
        do throws(Rejection) {
            try body()
        } catch {
            rollBack(to: mark)
            isPlain = true
            throw error
        }
        undo.removeAll()
        isPlain = true
    }

    /// Refuses what a reaction found no room for.
    func checkRefusal() throws(Rejection) {
        guard let refusal else { return }
        self.refusal = nil
        throw refusal
    }
}

extension Turn {
    /// Whether answers wait to be taken.
    public var hasResolutions: Bool { !news.resolutions.isEmpty }

    // because a reaction may mutate the child it reacts to: without an end, the stack would be it
    /// Counts a reaction in, or says that the transaction has had its share of them.
    func enterReaction(of node: AnyNode) -> Bool {
        if reactionSequence != lastSequence &+ 1 {
            reactionSequence = lastSequence &+ 1
            reactionCount = 0
        }
        guard reactionDepth < CoreLimits.reactionDepthMax,
            reactionCount < CoreLimits.reactionsMax
        else {
            reportLoop(
                "the reactions of \(node.path) are cut at depth \(reactionDepth), "
                    + "\(reactionCount) in all", of: origin)
            return false
        }
        reactionCount += 1
        reactionDepth += 1
        return true
    }

    /// Takes the answers given so far.
    public func takeResolutions() -> [Resolution] {
        let taken = news.resolutions
        news.resolutions.removeAll()
        return taken
    }
}
