/// A question to the journal: the deltas of a node that a client missed and that the ``DeltaRing``
/// has dropped.
package struct HistoryQuestion: Sendable, Equatable {
    /// The number of the question.
    package let number: UInt64
    /// The user that waits for the answer.
    package let uid: UInt32
    /// The node's number.
    package let node: UInt32
    /// The epoch of the sequences.
    package let epoch: UInt64
    /// The client has the deltas up to this sequence.
    package let after: UInt64
    /// The ring has the deltas after this sequence.
    package let upTo: UInt64
    /// Maximum answer size in bytes. For a larger result, the answer is nil.
    package let byteCountMax: Int
}
