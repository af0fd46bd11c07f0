/// The journal of a daemon without a data directory: it stores nothing and reports every batch as
/// appended at once.
///
/// It checks what every journal requires: sequences without gaps.
public final class MemoryJournal: Journal {
    public var onAppended: ((UInt64) -> Void)? {
        get { appendedHandler }
        set { appendedHandler = newValue }
    }
    public var onFailed: ((JournalFailure) -> Void)?
    /// Sequence of the last transaction appended.
    public var sequence: UInt64 { lastSequence }
    // Not public: an access to a public variable is checked for exclusivity at run time.
    private var appendedHandler: ((UInt64) -> Void)?
    private var lastSequence: UInt64

    /// Starts after the transaction `sequence`.
    public init(after sequence: UInt64 = 0) { lastSequence = sequence }

    public func append(_ batch: JournalBatch) {
        precondition(
            batch.after == lastSequence,
            "batch of turn \(batch.turn) starts after \(batch.after), expected \(lastSequence)")
        lastSequence = batch.sequence
        appendedHandler?(batch.turn)
    }

    public func resume() {}
}
