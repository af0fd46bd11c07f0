/// One turn's transactions, in the same form for the wire, the disk and replay; committed together.
///
/// *Place*: the server makes it at a turn's end; the journal stores it as a row, and returns it to the
/// recovery and to queries about the past. It is in this module since neither imports the other.
package struct Batch: Sendable {
    /// The turn; the journal names it once the batch is stored. 0 in a batch that was read.
    package let turn: UInt64
    /// The epoch of the sequences.
    package let epoch: UInt64
    /// Sequence of the last transaction before the batch.
    package let after: UInt64
    /// Sequence of the batch's last transaction.
    package let sequence: UInt64
    /// Delta frames, exactly as subscribers get them.
    package let deltas: ByteSlice
    /// The turn's other decisions: actions, outcomes, sessions, structure. Empty if no history is
    /// kept.
    package let facts: [UInt8]
    /// Whether a client was promised that the batch survives a power cut, even if the journal's
    /// durability is weaker.
    package let isDurable: Bool

    /// Creates a batch from a turn's delta frames and its other decisions.
    package init(
        turn: UInt64, epoch: UInt64, after: UInt64, sequence: UInt64,
        deltas: ByteSlice = ByteSlice([]), facts: [UInt8] = [], isDurable: Bool = false
    ) {
        self.turn = turn
        self.epoch = epoch
        self.after = after
        self.sequence = sequence
        self.deltas = deltas
        self.facts = facts
        self.isDurable = isDurable
    }
}
