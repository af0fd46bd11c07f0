/// A turn of the past, read from a journal.
package struct HistoryRow: Sendable {
    /// The epoch of the sequences.
    package var epoch: UInt64
    /// Sequence before the turn's first transaction.
    package var after: UInt64
    /// Sequence of the turn's last transaction.
    package var sequence: UInt64
    /// Its delta frames, as subscribers received them.
    package var deltas: [UInt8]
    /// Its ``TurnFact``s.
    package var facts: [UInt8]

    /// Describes a turn of the past.
    package init(
        epoch: UInt64, after: UInt64, sequence: UInt64, deltas: [UInt8], facts: [UInt8]
    ) {
        self.epoch = epoch
        self.after = after
        self.sequence = sequence
        self.deltas = deltas
        self.facts = facts
    }
}
