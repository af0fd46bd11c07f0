import ReactorCore
import ReactorJournal
import ReactorWire

/// Why the past cannot be told.
enum PastError: Error {
    /// The history does not reach there.
    case outOfReach(String)
    /// What holds it cannot be read.
    case journal(JournalError)
    /// What it holds is no history of these reactors.
    case recovery(RecoveryError, place: String)
    /// The daemon's reactors cannot be made a second time.
    case noReactors(String)
    /// The daemon is going down.
    case ended
    /// The slice does not exist.
    case noSlice(String)
}

extension PastError: CustomStringConvertible {
    var description: String {
        switch self {
        case .outOfReach(let text), .noReactors(let text), .noSlice(let text): text
        case .journal(let error): "\(error)"
        case .recovery(let error, let place): "\(place): \(error)"
        case .ended: "the daemon is going down"
        }
    }

    /// What a client is told.
    var refusal: Refusal {
        switch self {
        case .noSlice: Refusal(.notFound, "\(self)")
        case .ended: Refusal(.draining, "\(self)")
        case .journal(let error): Refusal(error.code, "\(self)")
        case .outOfReach, .recovery, .noReactors: Refusal(.history, "\(self)")
        }
    }

    /// What a start would end with.
    var daemonError: DaemonError {
        switch self {
        case .journal(let error): .journal(error)
        case .recovery(let error, let place): .recovery(error, place: place)
        case .outOfReach(let text), .noReactors(let text), .noSlice(let text): .past(text)
        case .ended: .past("\(self)")
        }
    }
}

extension JournalError {
    /// What a client is told: a disk, and what is on it, is something else than a past that is
    /// gone.
    fileprivate var code: FaultCode {
        if isFull { return .diskFull }
        return switch self {
        case .trimmed, .absent: .history
        case .unusableDirectory(_, .isForbidden): .forbidden
        case .unusableDirectory: .path
        default: .storage
        }
    }
}
