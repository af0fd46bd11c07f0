/// Why batches that a journal took over were not kept.
public enum JournalFailure: Error, Equatable, Sendable {
    /// There is no room: nothing of that turn and of later ones is kept.
    ///
    /// The journal drops what it is handed until ``Journal/resume()``, and goes on behind the last
    /// batch that it kept.
    case full(turn: UInt64, message: String)
    /// The disk failed, or is not the one it was: nothing of that turn and of later ones can be
    /// relied on, and nothing is tried again. The process is to end.
    /// The turn is 0 where it was not a commit that found out.
    case broken(turn: UInt64, message: String)
}
