/// Stores batches permanently.
///
/// *Place*: the daemon passes each turn's batch to it, and releases the turn's outputs when the
/// journal reports the batch as appended. *Owner*: the loop's thread; an implementation may commit
/// on its own thread.
public protocol Journal: AnyObject {
    /// Called with a turn when its batch and all batches before it have reached the journal's
    /// durability. Called on the owner's thread, at the earliest from inside ``append(_:)``.
    var onAppended: ((UInt64) -> Void)? { get set }

    /// Called on the owner's thread when batches were not stored.
    var onFailed: ((JournalFailure) -> Void)? { get set }

    /// Takes a batch. Batches come in the order of their sequences, without gaps.
    func append(_ batch: JournalBatch)

    /// Accepts batches again after ``JournalFailure/full(turn:message:)``, continuing after the
    /// last stored batch.
    func resume()
}

/// One turn's transactions, in the same form for the wire, the disk and replay.
public struct JournalBatch: Equatable, Sendable {
    /// The turn, for ``Journal/onAppended``.
    public var turn: UInt64
    /// The epoch of the sequences.
    public var epoch: UInt64
    /// Sequence before the batch's first transaction.
    public var after: UInt64
    /// Sequence of the batch's last transaction.
    public var sequence: UInt64
    /// Buffer that contains the delta frames at ``range``.
    public var bytes: [UInt8]
    /// The range of the delta frames in ``bytes``.
    public var range: Range<Int>
    /// The turn's other decisions: actions, outcomes, sessions, structure.
    public var facts: [UInt8]
    /// Whether the batch must survive a power cut before ``Journal/onAppended`` is called, even if
    /// the journal's durability is weaker.
    public var isDurable: Bool

    /// Creates a batch from a turn's delta frames and its other decisions.
    public init(
        turn: UInt64, epoch: UInt64, after: UInt64, sequence: UInt64, bytes: [UInt8],
        range: Range<Int>, facts: [UInt8] = [], isDurable: Bool = false
    ) {
        self.turn = turn
        self.epoch = epoch
        self.after = after
        self.sequence = sequence
        self.bytes = bytes
        self.range = range
        self.facts = facts
        self.isDurable = isDurable
    }
}
