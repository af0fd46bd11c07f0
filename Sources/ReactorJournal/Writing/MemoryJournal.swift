package import ReactorBytes

/// The journal of a daemon without a data directory: it stores nothing and reports every batch as
/// appended at once.
///
/// It checks what every journal requires: sequences without gaps.
package final class MemoryJournal: Journal {
    package var onAppended: ((UInt64) -> Void)? {
        get { appendedHandler }
        set { appendedHandler = newValue }
    }
    package var onFailed: ((JournalFailure) -> Void)?
    /// Sequence of the last transaction appended.
    package var sequence: UInt64 { lastSequence }
    // Private: an access to a variable of another module is checked for exclusivity at run time.
    private var appendedHandler: ((UInt64) -> Void)?
    private var lastSequence: UInt64

    /// Starts after the transaction `sequence`.
    package init(after sequence: UInt64 = 0) { lastSequence = sequence }

    package func append(_ batch: Batch) {
        precondition(
            batch.after == lastSequence,
            "batch of turn \(batch.turn) starts after \(batch.after), expected \(lastSequence)")
        lastSequence = batch.sequence
        appendedHandler?(batch.turn)
    }

    package func resume() {}
}
