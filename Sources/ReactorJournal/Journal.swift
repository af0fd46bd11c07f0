/// Where batches go to stay.
///
/// *Place*: the daemon hands it each turn's batch and releases the turn's outputs when the journal
/// says so. *Owner*: the loop's thread; an implementation may commit on a thread of its own.
public protocol Journal: AnyObject {
    /// Told the last turn that is as durable as the journal makes it, with all before it; called
    /// on the owner's thread, from inside ``append(_:)`` at the earliest.
    var onAppended: ((UInt64) -> Void)? { get set }

    /// Told that batches were not kept; called on the owner's thread.
    var onFailed: ((JournalFailure) -> Void)? { get set }

    /// Takes a batch over; batches come in the order of their sequences, without gaps.
    func append(_ batch: JournalBatch)

    /// Takes batches again after ``JournalFailure/full(turn:message:)``, behind the last one kept.
    func resume()
}

/// One turn's transactions, in the form in which they travel, rest and replay.
public struct JournalBatch: Equatable, Sendable {
    /// The turn, for ``Journal/onAppended``.
    public var turn: UInt64
    /// The history that the sequences are of.
    public var epoch: UInt64
    /// Sequence before the batch's first transaction.
    public var after: UInt64
    /// Sequence of its last.
    public var sequence: UInt64
    /// Buffer that holds the delta frames at ``range``.
    public var bytes: [UInt8]
    /// Where in ``bytes`` the frames stand.
    public var range: Range<Int>
    /// What the turn decided besides: actions, outcomes, sessions, structure.
    public var facts: [UInt8]
    /// Whether it is to survive a power cut when ``Journal/onAppended`` tells of it, whatever the
    /// journal makes of others.
    public var isDurable: Bool

    /// Makes a batch of a turn's delta frames and of what else it decided.
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
