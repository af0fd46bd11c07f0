/// An obstacle that loses no data. Reported when it begins, and again only if it was gone in
/// between.
package enum JournalAlarm: Equatable, Sendable {
    /// Another process holds the file's lock, and commits wait for it.
    case isLocked(file: String)
    /// The disk has no room for a checkpoint: rows stay in the write-ahead log, which grows.
    case checkpointFull(message: String)
    /// Another process reads, so the write-ahead log of this size cannot be restarted.
    case logIsRead(byteCount: Int)
}

extension JournalAlarm: CustomStringConvertible {
    /// The obstacle and the next step.
    package var description: String {
        switch self {
        case .isLocked(let file):
            "\(file) is locked by another process; commits wait until that ends"
        case .checkpointFull(let message):
            "the disk has no room for a checkpoint of the journal's log: \(message); free some"
        case .logIsRead(let byteCount):
            "the journal's log of \(byteCount) bytes cannot be restarted while another process reads"
        }
    }
}
