public import ReactorBytes
import ReactorWire

/// The results of one pass of the loop over a tree: deltas, sequence numbers, and every request of
/// the transactions.
///
/// *Place*: owned by a ``Tree``; nodes write into it, the server reads it at the end of the turn.
public final class Turn: CommitQueue {
    // Encoding a mutation receives nothing through which it could reach the turn, so accesses
    // cannot overlap.
    @usableFromInline let deltas: Cell<DeltaBuffer>
    /// Whether deltas are encoded; a store without outside observers needs none.
    @usableFromInline let recordsDeltas: Bool
    private let transactionCell: Cell<Transaction>
    private var currentEpoch: UInt64
    /// Whether the tree runs actions as previews on a client's mirror.
    private(set) var isPreview = false
    /// Counts turns, so that a node can tell whether ``touched`` lists it.
    private(set) var number: UInt64 = 1
    /// The turn's results besides the outcomes of its actions.
    private let newsCell = Cell(News())
    // Weak, since the tree owns the turn and outlives it.
    private(set) weak var home: Tree?
    /// Followers still to run.
    let followers = FollowerQueue()
    /// The means to take back the transaction in progress.
    let undo = UndoLog()
    private var nesting = Nesting()
    /// Whether the tree is close to its limit of effects.
    private(set) var isCrowded = false
    /// The snapshot in progress; nodes are saved in it before they change.
    private(set) var snapshot: (any NodeSaver)?
    @usableFromInline let shortCell = Cell(true)
    /// Whether ``facts`` are collected, for a journal.
    package private(set) var recordsFacts = false

    /// The transaction in progress.
    var transaction: Transaction {
        @inline(__always) _read { yield transactionCell.value }
        @inline(__always) _modify { yield &transactionCell.value }
    }
    private var news: News {
        @inline(__always) _read { yield newsCell.value }
        @inline(__always) _modify {
            newsCell.value.isTouched = true
            yield &newsCell.value
        }
    }
    var tree: Tree {
        guard let home else { preconditionFailure("a turn is used without its tree") }
        return home
    }

    init(epoch: UInt64, sequence: UInt64, recordsDeltas: Bool) {
        currentEpoch = epoch
        transactionCell = Cell(Transaction(after: sequence))
        self.recordsDeltas = recordsDeltas
        deltas = Cell(DeltaBuffer(capacity: recordsDeltas ? 1 << 16 : 0))
    }

    /// The epoch of the sequences.
    public var epoch: UInt64 { currentEpoch }

    /// Sequence of the last applied transaction.
    public var sequence: UInt64 { transaction.lastSequence }

    /// The position of a delta of a replicated node.
    package struct Change {
        /// The node that changed.
        package let node: AnyNode
        /// First byte of the frame's header among the turn's deltas.
        package let start: Int
        /// End of the frame, exclusive.
        package let end: Int
    }
}

// MARK: - Writing deltas
extension Turn {
    /// Begins the delta of `node` in the current transaction; the caller writes its mutations next.
    @usableFromInline
    func beginDelta(of node: AnyNode) {
        deltas.value.beginDelta(node.number, transaction.sequence, transaction.origin)
    }

    /// Ends the delta.
    ///
    /// *Throws*: ``Rejection`` if it is too large; the delta is discarded then.
    @usableFromInline
    func endDelta(of node: AnyNode) throws(Rejection) {
        let byteCount = deltas.value.frameByteCount
        if byteCount > CoreLimits.deltaBytesMax {
            deltas.value.drop()
            try checkSize(byteCount, of: node)
        }
        list(deltas.value.endDelta(), of: node)
    }

    /// Writes a structural delta of `collection` in the current transaction.
    func record(_ change: StructuralChange, of collection: AnyNode) {
        guard recordsDeltas else { return }
        deltas.value.beginDelta(
            collection.number, transaction.sequence, flags: .structural, transaction.origin)
        change.encode(into: &deltas.value.writer)
        list(deltas.value.endDelta(), of: collection)
    }

    /// Appends the delta of `node` that a history has in the current transaction.
    func addFrame(
        _ header: FrameHeader, _ origin: Span<UInt8>, _ mutations: Span<UInt8>, of node: AnyNode
    ) {
        list(deltas.value.addFrame(header, origin, mutations), of: node)
    }

    private func list(_ frame: (start: Int, end: Int), of node: AnyNode) {
        guard node.isReplicated else { return }
        news.changes.append(Change(node: node, start: frame.start, end: frame.end))
    }

    /// Refuses mutations of other nodes that are too large to encode.
    func check(_ mutation: any AnyMutation, of node: AnyNode) throws(Rejection) {
        guard recordsDeltas else { return }
        try checkSize(deltas.value.measure { mutation.encode(into: &$0) }, of: node)
    }

    private func checkSize(_ byteCount: Int, of node: AnyNode) throws(Rejection) {
        guard byteCount <= CoreLimits.deltaBytesMax else {
            throw Rejection(
                .tooLarge,
                "\(node.path): \(byteCount) bytes of mutations, at most "
                    + "\(CoreLimits.deltaBytesMax) fit a transaction")
        }
    }

    // MARK: The fast path

    /// Whether an action may take the fast path: no reversible transaction and no snapshot is in
    /// progress, and the node has no rules and no reacting parent.
    @inlinable
    func isShort(for node: AnyNode) -> Bool { shortCell.value && !node.marks.value.takesLongWay }

    private func weighWay() {
        shortCell.value = !undo.isRecording && snapshot == nil && !transaction.refusesWaits
    }

    /// Has each node saved in `snapshot` before it changes.
    func beginSnapshot(_ snapshot: any NodeSaver) {
        self.snapshot = snapshot
        weighWay()
    }

    /// Ends the use of a snapshot, unless another is in progress.
    func endSnapshot(_ snapshot: any NodeSaver) {
        guard self.snapshot === snapshot else { return }
        self.snapshot = nil
        weighWay()
    }

    /// Rejects decisions that defer their answers, while this is set.
    func refuseWaits(_ refusesWaits: Bool) {
        transaction.refuseWaits(refusesWaits)
        weighWay()
    }

    /// Begins a reversible transaction. Returns the position for ``rollBack(to:)``.
    func beginReversible() -> Mark {
        undo.begin()
        weighWay()
        return mark()
    }

    private func mark() -> Mark {
        Mark(
            stepCount: undo.stepCount, byteCount: deltas.value.byteCount,
            changeCount: news.changes.count, effectCount: news.effects.count, nesting: nesting)
    }

    /// Ends a reversible transaction, which can no longer be rolled back.
    func endReversible() {
        undo.end()
        weighWay()
    }

    /// The position to which a reversible transaction is rolled back.
    struct Mark {
        fileprivate var stepCount: Int
        fileprivate var byteCount: Int
        fileprivate var changeCount: Int
        fileprivate var effectCount: Int
        fileprivate var nesting: Nesting
    }

    /// Undoes the changes of the reversible transaction, clears its requests, and ends it.
    func rollBack(to mark: Mark) {
        undoChanges(to: mark)
        transaction.wishes.clear()
        endReversible()
    }

    private func undoChanges(to mark: Mark) {
        while let step = undo.popStep(after: mark.stepCount) { step() }
        deltas.value.truncate(to: mark.byteCount)
        news.changes.removeSubrange(mark.changeCount...)
        news.effects.removeSubrange(mark.effectCount...)
        _ = undo.takeRefusal()
        nesting.restore(mark.nesting)
    }

    /// Runs `body` as a part of the current transaction. A refusal undoes the changes and requests
    /// of `body` alone.
    func nested(_ body: () throws(Rejection) -> Void) throws(Rejection) {
        let isReversible = undo.isRecording
        if !isReversible { _ = beginReversible() }
        let mark = mark()
        let wishes = transaction.wishes
        // A refusal of the enclosing transaction is not one of `body`.
        let refusal = undo.takeRefusal()
        defer {
            if let refusal { undo.refuse(refusal) }
            if !isReversible { endReversible() }
        }
        do throws(Rejection) {
            try body()
        } catch {
            undoChanges(to: mark)
            transaction.restore(wishes)
            throw error
        }
    }

    // MARK: Reading a turn

    /// The results of a turn besides deltas; empty in most turns.
    fileprivate struct News {
        var changes: [Change] = []
        var touched: [AnyNode] = []
        var removed: [AnyNode] = []
        /// Answers to actions whose reply was deferred.
        var resolutions: [Resolution] = []
        var effects: [PendingEffect] = []
        var failures: [LateFailure] = []
        var complaints: [String] = []
        var facts: [NodeFact] = []
        /// Whether anything was changed since the last ``removeAll()``: one look in most turns.
        var isTouched = false

        var isEmpty: Bool {
            !isTouched
                || changes.isEmpty && touched.isEmpty && removed.isEmpty && resolutions.isEmpty
                    && effects.isEmpty && failures.isEmpty && complaints.isEmpty && facts.isEmpty
        }

        mutating func removeAll() {
            isTouched = false
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

    /// Whether the turn has only outcomes and deltas without followers.
    public var isQuiet: Bool { news.isEmpty }

    /// The positions of the deltas of replicated nodes.
    package var changes: [Change] { news.changes }

    /// Changed nodes that are watched, or below a watched node; each once a turn.
    package var touched: [AnyNode] { news.touched }

    /// Nodes that this turn removed.
    package var removed: [AnyNode] { news.removed }

    /// Whether this turn removed nodes.
    package var hasRemoved: Bool { !news.removed.isEmpty }

    /// Effects that start when their transactions are committed.
    package var effects: [PendingEffect] { news.effects }

    /// Whether effects start when their transactions are committed.
    package var hasEffects: Bool { !news.effects.isEmpty }

    /// Failures of actions after their outcomes were decided.
    package var failures: [LateFailure] { news.failures }

    /// Failures that no client waits for: for the log.
    package var complaints: [String] { news.complaints }

    /// Facts for a journal besides deltas; empty unless ``recordsFacts``.
    package var facts: [NodeFact] { news.facts }

    /// Bytes of the delta frames so far.
    public var deltaByteCount: Int { deltas.value.byteCount }

    /// Appends a frame without a body after the deltas.
    package func append(_ header: FrameHeader) { deltas.value.writer.header(header) }

    /// Lends the delta frames so far to `body`, which must not dispatch.
    @inlinable
    public func withDeltas<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try deltas.value.writer.withBytes(body)
    }

    /// The delta frames so far. *Cost*: copies them.
    package var deltaBytes: [UInt8] { deltas.value.writer.bytes }

    // MARK: Adding results

    /// Logs a failure that no client waits for.
    func complain(_ text: String) { news.complaints.append(text) }

    /// Reports a failure to the client of its action.
    func report(_ failure: LateFailure) { news.failures.append(failure) }

    /// Reports a cut chain of followers to the log, and once per action to the client.
    func reportLoop(_ text: String, of origin: Origin) {
        complain("\(FaultCode.loop): \(text)")
        let failure = LateFailure(origin: origin, code: FaultCode.loop.rawValue, message: text)
        if let last = failures.last, last.origin == origin, last.code == failure.code { return }
        report(failure)
    }

    /// Collects ``facts`` from now on.
    package func recordFacts() { recordsFacts = true }

    /// Adds a fact for the journal.
    func record(_ fact: NodeFact) { if recordsFacts { news.facts.append(fact) } }

    /// Drops the fact that node `number` was created.
    func dropCreation(of number: UInt32) { news.facts.removeAll { $0.makes(number) } }

    /// Lists a changed node, once a turn, since it or a node above it is watched.
    func list(touched node: AnyNode) {
        node.list(inTurn: number)
        news.touched.append(node)
    }

    /// Adds the final removals and the answers of a transaction.
    func record(removed: [AnyNode], _ answers: [Resolution]) {
        news.removed.append(contentsOf: removed)
        news.resolutions.append(contentsOf: answers)
    }

    /// Runs `job` once the current transaction is committed, or `withdraw` if it is refused.
    func whenCommitted(
        _ job: @escaping () -> Void, orElse withdraw: (() -> Void)? = nil
    ) {
        news.effects.append(PendingEffect(sequence: transaction.sequence, start: job))
        if let withdraw { undo.claim(withdraw) }
    }

    /// Drops the jobs after the first `count` ones.
    func dropEffects(after count: Int) { news.effects.removeSubrange(count...) }

    /// Records whether the tree is close to its limit of effects.
    func setCrowded(_ isCrowded: Bool) { self.isCrowded = isCrowded }

    // MARK: Reactions and sent actions

    /// Begins a reaction of `node`. Returns false beyond the limits, with a line in the log.
    func enterReaction(of node: AnyNode) -> Bool {
        if nesting.reactions.enter(in: transaction.sequence) { return true }
        reportLoop(
            "the reactions of \(node.path) are cut at depth \(nesting.reactions.depth), "
                + "\(nesting.reactions.count) in all", of: transaction.origin)
        return false
    }

    /// Ends a reaction. With `wasIdle`, the reactor decided nothing, and the reaction does not count.
    func leaveReaction(wasIdle: Bool = false) { nesting.reactions.leave(wasIdle: wasIdle) }

    /// Runs `body`, the decision of a reactor's start.
    func starting(_ body: () -> Void) {
        let isNested = nesting.isStarting
        nesting.isStarting = true
        body()
        nesting.isStarting = isNested
    }

    /// Whether a reactor decides its start.
    var isStarting: Bool { nesting.isStarting }

    /// Whether a reaction is in progress.
    var isReacting: Bool { nesting.reactions.depth > 0 }

    /// Begins a sent action of `node`, which is refused beyond the limits.
    func enterSend(to node: AnyNode) throws(Rejection) {
        guard nesting.sends.enter(in: transaction.sequence) else {
            throw Rejection(
                .loop,
                "\(node.path): an action is sent at depth \(nesting.sends.depth + 1), after "
                    + "\(nesting.sends.count) in this transaction; sendDepthMax is "
                    + "\(CoreLimits.sendDepthMax), sendsMax is \(CoreLimits.sendsMax)")
        }
    }

    func leaveSend() { nesting.sends.leave() }

    /// Whether the daemon sends the current action. A follower keeps the caller of the action that
    /// dispatched it.
    var isFromDaemon: Bool { transaction.isInternal || transaction.caller.isDaemon }

    /// False if the deciding reactor is the reactor that a client addressed.
    var isIndirect: Bool { isSending || isReacting || isStarting }

    /// Whether a sent action is in progress.
    var isSending: Bool { nesting.sends.depth > 0 }

    // MARK: Turns

    /// Connects the turn with its tree.
    func settle(in tree: Tree) { home = tree }

    /// Makes the tree run actions as previews.
    func beginPreviews() { isPreview = true }

    /// Starts a new epoch at the current sequence.
    func begin(epoch: UInt64) { currentEpoch = epoch }

    /// Whether there are answers to take.
    package var hasResolutions: Bool { !news.resolutions.isEmpty }

    /// Takes the answers given so far.
    package func takeResolutions() -> [Resolution] {
        let taken = news.resolutions
        news.resolutions.removeAll()
        return taken
    }

    /// Takes the effects that wait for the commit.
    func takeEffects() -> [PendingEffect] {
        let taken = news.effects
        news.effects.removeAll(keepingCapacity: true)
        return taken
    }

    /// Maximum capacity of the delta buffer that is kept for the next turn, in bytes.
    private static let deltaBytesKeptMax = 1 << 20

    /// Starts the next turn: clears the results of the last one, and keeps the capacities.
    ///
    /// The caller has taken the deltas and lists that it needs before.
    public func begin() {
        number &+= 1
        deltas.value.removeAll(keepingAtMost: Self.deltaBytesKeptMax)
        if newsCell.value.isTouched { newsCell.value.removeAll() }
    }
}
