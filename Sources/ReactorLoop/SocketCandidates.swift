/// The possible paths of a daemon's socket, in the order in which daemon and clients try them.
///
/// *Place*: pure. The daemon binds ``forDaemon(_:environment:uid:isOwnDirectory:)``; clients try all
/// of ``list(of:environment:uid:)`` and use the first that accepts. A path named by the user is the
/// only candidate: a client that does not find its daemon there must not talk to another one.
package enum SocketCandidates {
    /// Name of the environment variable that overrides all other candidates.
    package static let variable = "REACTORD_SOCKET"

    /// The path that the variable names; an empty variable counts as unset.
    package static func named(in environment: [String: String]) -> String? {
        environment[variable].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The socket of the system service of this name.
    package static func systemPath(of daemon: DaemonName = .reactord) -> String {
        "/run/\(daemon.text)/\(daemon.text).sock"
    }

    /// Whether a path is that of a system service's socket: `/run/NAME/NAME.sock`, or
    /// `/run/NAME/admin.sock`, the socket for administrators.
    package static func isSystemPath(_ path: String) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[3].hasSuffix(".sock"),
            let name = try? DaemonName(String(parts[2]))
        else { return false }
        return path == systemPath(of: name) || path == "/run/\(name.text)/admin.sock"
    }

    /// All candidates for this environment and user, usable or not, best first; with the variable
    /// set, that path alone, whatever the daemon's name.
    ///
    /// An empty variable counts as unset. Root has no candidate under `/tmp`, where any user could
    /// be first; its daemon creates the system's directory instead.
    package static func list(
        of daemon: DaemonName = .reactord, environment: [String: String], uid: UInt32
    ) -> [SocketCandidate] {
        var candidates: [SocketCandidate] = []
        let name = daemon.text
        if let path = named(in: environment) {
            return [SocketCandidate(path: path, reason: .variable)]
        }
        if let directory = environment["XDG_RUNTIME_DIR"], !directory.isEmpty {
            let slash = directory.hasSuffix("/") ? "" : "/"
            candidates.append(
                SocketCandidate(
                    path: "\(directory)\(slash)\(name).sock", reason: .runtimeDirectory))
        }
        candidates.append(
            SocketCandidate(
                path: systemPath(of: daemon), reason: .system, isDirectoryCreated: uid == 0))
        if uid != 0 {
            candidates.append(
                SocketCandidate(
                    path: "/tmp/\(name)-\(uid)/\(name).sock", reason: .temporary,
                    isDirectoryCreated: true))
        }
        return candidates
    }

    /// The candidate that a daemon of this user binds.
    ///
    /// That is the variable's path if it is set; else the first whose directory exists and belongs
    /// to the user; else the last, whose directory the daemon creates with mode 0700: the one under
    /// `/tmp`, or the system's for root. `isOwnDirectory` reads the file system; this function does
    /// not.
    ///
    /// *Throws*: if the variable contains a path that cannot be a socket's. The daemon does not use
    /// another path silently, for which the operator would have to search.
    package static func forDaemon(
        _ daemon: DaemonName = .reactord, environment: [String: String], uid: UInt32,
        isOwnDirectory: (String) -> Bool
    ) throws(SocketPathError) -> SocketCandidate {
        let candidates = list(of: daemon, environment: environment, uid: uid)
        for candidate in candidates {
            switch candidate.reason {
            case .variable:
                if let refusal = candidate.refusal { throw refusal }
                return candidate
            case .runtimeDirectory, .system:
                if candidate.refusal == nil,
                    candidate.isDirectoryCreated || isOwnDirectory(candidate.directory)
                {
                    return candidate
                }
            case .temporary:
                return candidate
            }
        }
        preconditionFailure("the last candidate can always be made, got \(candidates)")
    }
}

/// A possible path of the daemon's socket.
package struct SocketCandidate: Equatable, Sendable {
    /// The reason why a path is a candidate.
    package enum Reason: Equatable, Sendable {
        /// The environment variable `$REACTORD_SOCKET` contains the path.
        case variable
        /// The user's own run-time directory, `$XDG_RUNTIME_DIR`.
        case runtimeDirectory
        /// The system service's directory.
        case system
        /// The last candidate; the daemon creates its directory with mode 0700.
        case temporary
    }

    /// The path.
    package let path: String
    /// The reason.
    package let reason: Reason
    /// The reason why no socket can have this path, or `nil`.
    package let refusal: SocketPathError?
    /// Whether the daemon creates a missing ``directory``.
    package let isDirectoryCreated: Bool

    init(path: String, reason: Reason, isDirectoryCreated: Bool = false) {
        self.path = path
        self.reason = reason
        self.isDirectoryCreated = isDirectoryCreated
        refusal = SocketPathError(path)
    }

    /// The directory of the socket; `/` for one at the top.
    package var directory: String {
        guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}

extension SocketCandidate: CustomStringConvertible {
    package var description: String {
        let why =
            switch reason {
            case .variable: "$\(SocketCandidates.variable)"
            case .runtimeDirectory: "$XDG_RUNTIME_DIR"
            case .system: "the system service"
            case .temporary: "the last resort"
            }
        return refusal.map { "\(why): \($0)" } ?? "\(path) (\(why))"
    }
}

/// The reason why a text cannot be the path of a Unix-domain socket.
public struct SocketPathError: Error, Equatable, Sendable {
    /// Maximum length in bytes: `sun_path` has 108, of which the last is zero.
    package static let pathBytesMax = 107

    /// The possible faults of a path.
    package enum Condition: Equatable, Sendable {
        case empty
        case relative
        case tooLong
        /// The path contains a zero byte, at which the kernel would cut it.
        case zeroByte
        /// The path ends in a slash, so it names a directory.
        case directory
    }

    /// The faulty path.
    package let path: String
    /// The fault.
    package let condition: Condition

    /// The fault of a path; `nil` if it has none.
    ///
    /// *Shape*: absolute, at most ``pathBytesMax`` bytes of UTF-8, no zero byte.
    package init?(_ path: String) {
        guard let condition = Self.condition(of: path) else { return nil }
        self.path = path
        self.condition = condition
    }

    private static func condition(of path: String) -> Condition? {
        guard let first = path.utf8.first else { return .empty }
        if path.utf8.contains(0) { return .zeroByte }
        if first != UInt8(ascii: "/") { return .relative }
        if path.utf8.count > pathBytesMax { return .tooLong }
        return path.utf8.last == UInt8(ascii: "/") ? .directory : nil
    }
}

extension SocketPathError: CustomStringConvertible {
    public var description: String {
        let reason =
            switch condition {
            case .empty: "is empty, expected an absolute path"
            case .relative: "is relative, expected an absolute path"
            case .tooLong:
                "has \(path.utf8.count) bytes, expected at most \(Self.pathBytesMax); "
                    + "choose a shorter directory"
            case .zeroByte: "holds a zero byte"
            case .directory: "ends in a slash, expected the path of a file"
            }
        let shown = path.unicodeScalars.map { $0.escaped(asASCII: false) }.joined()
        return "socket path \"\(shown)\" \(reason)"
    }
}
