import Glibc
public import ReactorCore
public import ReactorJournal
public import ReactorLoop

/// The reason why a daemon cannot start or continue, with a text for the operator.
public enum DaemonError: Error, Sendable {
    /// The configuration cannot be used.
    case config(ConfigError)
    /// No default path can be made from the daemon's name.
    case name(DaemonNameError)
    /// The configured path cannot be a socket's.
    case socketPath(SocketPathError)
    /// A system call failed.
    case loop(LoopError)
    /// Neither the configuration nor the environment names a data directory.
    case noDataDirectory
    /// The data directory cannot be used, or can no longer be used.
    case journal(JournalError)
    /// The content of the data directory does not fit the daemon's reactors.
    case recovery(RecoveryError, place: String)
    /// The disk failed while the daemon ran; everything acknowledged to clients is durable.
    case diskFailed(String)
    /// The `whenOpen` closure of the daemon's author threw.
    case opening(String)
    /// A query about the past cannot be answered.
    case past(String)
    /// A signal ended the start, before clients were served.
    case interrupted(Signal)
    /// The process cannot take over from a former one, which goes on serving.
    case handover(String)
    /// A file of states cannot be imported.
    case unusableImport(String)
    /// The daemon cannot join its cluster, or cannot stay in it.
    case cluster(String)
    /// The cluster's log no longer has the rows after those of the data directory.
    case fellBehind(String)
    /// The engine of the cluster does not answer; a later start may succeed.
    case engine(String)
}

extension DaemonError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .config(let error): "\(error)"
        case .name(let error):
            "\(error): declare another `name`, or configure `socket:` and `data: directory:`"
        case .socketPath(let error): "\(error)"
        case .loop(let error): "\(error)"
        case .noDataDirectory:
            "no data directory is configured: set `data: directory:`, $XDG_STATE_HOME or $HOME"
        case .journal(let error): "\(error)"
        case .recovery(let error, let place): "\(place): \(error)"
        case .diskFailed(let text):
            "\(text); all acknowledged actions are durable: start the daemon again"
        case .opening(let text): "opening the tree: \(text)"
        case .interrupted(let signal): "stopped by \(signal) before clients were served"
        case .handover(let text): "taking over: \(text)"
        case .past(let text), .unusableImport(let text), .cluster(let text),
            .fellBehind(let text), .engine(let text):
            text
        }
    }
}

extension DaemonError {
    /// The exit status of the process, a code of `sysexits.h`.
    public var exitCode: Int32 {
        switch self {
        case .interrupted: EX_OK
        case .config, .past, .unusableImport: EX_DATAERR
        case .name, .socketPath, .loop, .opening, .noDataDirectory, .handover, .engine:
            EX_UNAVAILABLE
        case .recovery, .cluster, .fellBehind: EX_CONFIG
        case .diskFailed: EX_IOERR
        case .journal(let error):
            switch error {
            case .damage, .foreign, .missing, .newerFormat, .trimmed, .absent: EX_CONFIG
            case .unusableDirectory(_, .isTaken): EX_CANTCREAT
            case .unusableDirectory, .inUse: EX_UNAVAILABLE
            case .moved, .system, .database: EX_IOERR
            }
        }
    }
}
