/// One turn's transactions, in the same form for the wire, the disk and replay.
package struct JournalBatch: Equatable, Sendable {
    /// The turn, for ``Journal/onAppended``.
    package var turn: UInt64
    /// The epoch of the sequences.
    package var epoch: UInt64
    /// Sequence before the batch's first transaction.
    package var after: UInt64
    /// Sequence of the batch's last transaction.
    package var sequence: UInt64
    /// Buffer that contains the delta frames at ``range``.
    package var bytes: [UInt8]
    /// The range of the delta frames in ``bytes``.
    package var range: Range<Int>
    /// The turn's other decisions: actions, outcomes, sessions, structure.
    package var facts: [UInt8]
    /// Whether the batch must survive a power cut before ``Journal/onAppended`` is called, even if
    /// the journal's durability is weaker.
    package var isDurable: Bool

    /// Creates a batch from a turn's delta frames and its other decisions.
    package init(
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
