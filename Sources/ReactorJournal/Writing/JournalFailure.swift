/// The reason why batches were not stored.
package enum JournalFailure: Error, Equatable, Sendable {
    /// The disk is full: the batches of this turn and of all later turns are not stored.
    ///
    /// The journal drops further batches until ``Journal/resume()``, and then continues after the
    /// last stored batch.
    case full(turn: UInt64, message: String)
    /// The disk failed or was replaced: the batches of this turn and of all later turns are lost,
    /// and no retry is made. The process must end. `turn` is 0 if the failure was not detected by a
    /// commit.
    case broken(turn: UInt64, message: String)
}
