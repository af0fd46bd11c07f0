package import ReactorBytes

/// Stores batches permanently.
///
/// *Place*: the daemon passes each turn's batch to it, and releases the turn's outputs when the
/// journal reports the batch as appended. *Owner*: the loop's thread; an implementation may commit
/// on its own thread.
package protocol Journal: AnyObject {
    /// Called with a turn when its batch and all batches before it have reached the journal's
    /// durability. Called on the owner's thread, at the earliest from inside ``append(_:)``.
    var onAppended: ((UInt64) -> Void)? { get set }

    /// Called on the owner's thread when batches were not stored.
    var onFailed: ((JournalFailure) -> Void)? { get set }

    /// Takes a batch. Batches come in the order of their sequences, without gaps.
    func append(_ batch: Batch)

    /// Accepts batches again after ``JournalFailure/full(turn:message:)``, continuing after the
    /// last stored batch.
    func resume()
}
