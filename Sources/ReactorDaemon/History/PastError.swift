import ReactorCore
import ReactorJournal
import ReactorWire

/// The reason why a query about the past has no answer.
enum PastError: Error {
    /// The history does not contain the requested revision.
    case outOfReach(String)
    /// The data directory cannot be read.
    case journal(JournalError)
    /// The rows do not fit the daemon's reactors.
    case recovery(RecoveryError, place: String)
    /// The daemon's reactors cannot be created a second time.
    case noReactors(String)
    /// The daemon is stopping, or the client's connection has closed.
    case ended
    /// No slice exists at the path.
    case noSlice(String)
}

extension PastError: CustomStringConvertible {
    var description: String {
        switch self {
        case .outOfReach(let text), .noReactors(let text), .noSlice(let text): text
        case .journal(let error): "\(error)"
        case .recovery(let error, let place): "\(place): \(error)"
        case .ended: "the daemon is shutting down"
        }
    }

    /// The refusal sent to a client.
    var refusal: Refusal {
        switch self {
        case .noSlice: Refusal(.notFound, "\(self)")
        case .ended: Refusal(.draining, "\(self)")
        case .journal(let error): Refusal(error.code, "\(self)")
        case .outOfReach, .recovery, .noReactors: Refusal(.history, "\(self)")
        }
    }

    /// The error that ends a start or a subcommand.
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
    /// The fault code for a client: errors of the disk or its content differ from history that
    /// was removed.
    fileprivate var code: FaultCode {
        if isFull { return .diskFull }
        return switch self {
        case .trimmed, .absent: .history
        case .unusableDirectory(_, .isForbidden): .forbidden
        case .unusableDirectory(_, .isTaken): .conflict
        case .unusableDirectory: .path
        default: .storage
        }
    }
}
