import Glibc
public import ReactorCore
public import ReactorJournal
public import ReactorLoop

/// Why a daemon cannot start, in words for the operator.
public enum DaemonError: Error, Sendable {
    /// The configuration cannot be used.
    case config(ConfigError)
    /// The configured path can be no socket's.
    case socketPath(SocketPathError)
    /// The system refused something.
    case loop(LoopError)
    /// Nothing says where the data are to be kept.
    case noDataPlace
    /// The data directory cannot be used, or not any further.
    case journal(JournalError)
    /// What the data directory holds is no history of these reactors.
    case recovery(RecoveryError, place: String)
    /// The disk failed while the daemon ran; what clients were told is kept.
    case diskFailed(String)
    /// What is to be done with the open tree, by the daemon's author, was not done.
    case opening(String)
    /// What was asked of the past is not there.
    case past(String)
    /// A signal ended the start, before anything was served.
    case interrupted(Signal)
    /// A file of states cannot be taken over.
    case unusableImport(String)
}

extension DaemonError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .config(let error): "\(error)"
        case .socketPath(let error): "\(error)"
        case .loop(let error): "\(error)"
        case .noDataPlace:
            "nothing says where the data are to be kept: set `data: directory:`, $XDG_STATE_HOME or "
                + "$HOME"
        case .journal(let error): "\(error)"
        case .recovery(let error, let place): "\(place): \(error)"
        case .diskFailed(let text): "\(text); what clients were told is kept, start anew"
        case .opening(let text): "opening the tree: \(text)"
        case .interrupted(let signal): "stopped by \(signal) before anything was served"
        case .past(let text), .unusableImport(let text): text
        }
    }
}

extension DaemonError {
    /// With what the process ends: a code of `sysexits.h`.
    public var exitCode: Int32 {
        switch self {
        case .interrupted: EX_OK
        case .config, .past, .unusableImport: EX_DATAERR
        case .socketPath, .loop, .opening, .noDataPlace: EX_UNAVAILABLE
        case .recovery: EX_CONFIG
        case .diskFailed: EX_IOERR
        case .journal(let error):
            switch error {
            case .damage, .foreign, .missing, .newerFormat, .trimmed, .absent: EX_CONFIG
            case .unusableDirectory, .inUse: EX_UNAVAILABLE
            case .moved, .system, .database: EX_IOERR
            }
        }
    }
}

extension Daemon {
    static var processID: Int32 { getpid() }
}
