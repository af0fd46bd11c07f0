import Glibc
public import ReactorLoop

/// Why a daemon cannot start, in words for the operator.
public enum DaemonError: Error, Sendable {
    /// The configuration cannot be used.
    case config(ConfigError)
    /// The configured path can be no socket's.
    case socketPath(SocketPathError)
    /// The system refused something.
    case loop(LoopError)
    /// What is to be done with the open tree, by the daemon's author, was not done.
    case opening(String)
}

extension DaemonError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .config(let error): "\(error)"
        case .socketPath(let error): "\(error)"
        case .loop(let error): "\(error)"
        case .opening(let text): "opening the tree: \(text)"
        }
    }
}

extension Daemon {
    static var processID: Int32 { getpid() }
}
