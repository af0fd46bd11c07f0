/// What is in a journal's way, and loses nothing: told when it begins, and again only when it has
/// been gone in between.
public enum JournalAlarm: Equatable, Sendable {
    /// Another process holds the lock of the file, and commits wait for it.
    case isLocked(file: String)
    /// A checkpoint has no room: rows stay in the log, which fills up.
    case checkpointFull(message: String)
    /// Another process reads, so that the log of so many bytes cannot begin anew.
    case logIsRead(byteCount: Int)
}

extension JournalAlarm: CustomStringConvertible {
    /// What is in the way, and the next step.
    public var description: String {
        switch self {
        case .isLocked(let file):
            "\(file) is locked by another process; nothing is kept until that ends"
        case .checkpointFull(let message):
            "the journal's log cannot be emptied for want of room: \(message); free some"
        case .logIsRead(let byteCount):
            "the journal's log of \(byteCount) bytes cannot begin anew while another process reads"
        }
    }
}
