/// The journal of a daemon that keeps nothing: every batch is appended at once.
///
/// It checks what every journal may rely on: sequences without gaps.
public final class MemoryJournal: Journal {
    public var onAppended: ((UInt64) -> Void)?
    public var onFailed: ((JournalFailure) -> Void)?
    /// Sequence of the last transaction appended.
    public private(set) var sequence: UInt64

    /// Starts behind the transaction numbered `sequence`.
    public init(after sequence: UInt64 = 0) { self.sequence = sequence }

    public func append(_ batch: JournalBatch) {
        precondition(
            batch.after == sequence,
            "batch of turn \(batch.turn) starts after \(batch.after), expected \(sequence)")
        sequence = batch.sequence
        onAppended?(batch.turn)
    }

    public func resume() {}
}
