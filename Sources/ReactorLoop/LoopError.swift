/// The errors of this module, by condition.
///
/// *Place*: daemon and client show them to their operator. Each description states what failed, on
/// which subject, the expectation, and a remedy.
public enum LoopError: Error, Equatable, Sendable {
    /// A call to libuv or the system failed.
    case call(CallFailure)
    /// The loop was closed before the call about `subject`.
    case loopIsClosed(subject: String)
    /// The socket's path is empty.
    case pathIsEmpty
    /// The socket's path holds a NUL byte, at which the system would cut it.
    case pathHoldsNUL(path: String)
    /// The socket's path does not fit `sun_path`.
    case pathIsTooLong(path: String, byteCount: Int)
    /// The directory for the socket is not safe to use.
    case unsafeDirectory(path: String, DirectoryFault)
    /// The file at the socket's path is not a stale socket of this user.
    case unsafeSocketFile(path: String, SocketFileFault)
    /// Users other than the daemon's may have created the socket at the path.
    case untrustedSocket(path: String, SocketTrustFault)
    /// Another process holds the lock file. `pid` is `nil` if it has not written its process id
    /// yet.
    case alreadyRunning(lockPath: String, pid: Int32?)
    /// Another instance, in this process or another, has the file open.
    case fileInUse(path: String)
    /// The file is not a regular file with one name of this user, or others may write to it.
    case unsafeFile(path: String)
    /// The inherited descriptor is not a listening Unix stream socket.
    case notAListener(descriptor: Int32)
    /// The service manager has passed other sockets than the daemon expects.
    case unfitActivation(reason: String)

    /// The failed call of ``call(_:)``; `nil` for every other error.
    public var failure: CallFailure? {
        if case .call(let failure) = self { failure } else { nil }
    }
}

/// The reason why a directory is not safe for a socket.
public enum DirectoryFault: Equatable, Sendable {
    /// The directory does not exist.
    case isMissing
    /// The directory is a symbolic link, whose target could be changed.
    case isSymbolicLink
    /// The file is not a directory.
    case isNotADirectory
    /// The directory belongs to `owner`, not to the expected user.
    case isOwnedBy(owner: UInt32, expected: UInt32)
    /// The directory's group, or all users, may write to it. `mode` contains the permission bits.
    case isWritableByOthers(mode: UInt32)
}

/// The reason why a file at the socket's path must not be removed.
public enum SocketFileFault: Equatable, Sendable {
    /// The file is a `kind`, such as "directory", and not a socket.
    case isNotASocket(kind: String)
    /// The file belongs to `owner`, not to the expected user.
    case isOwnedBy(owner: UInt32, expected: UInt32)
    /// Another program, which does not hold the lock, listens there.
    case isInUse
}

/// The reason why a socket is not trusted.
public enum SocketTrustFault: Equatable, Sendable {
    /// A process of another user listens there.
    case isServedBy(uid: UInt32, expected: [UInt32])
    /// Other users can replace the socket.
    case directory(String, DirectoryFault)
}

extension LoopError: CustomStringConvertible {
    /// What failed, on which subject, the expectation, and a remedy.
    public var description: String {
        switch self {
        case .call(let failure):
            failure.description
        case .loopIsClosed(let subject):
            "\(subject): the loop is closed"
        case .pathIsEmpty:
            "socket path is empty; name a path of 1 to \(UnixAddress.pathBytesMax) bytes"
        case .pathHoldsNUL(let path):
            "socket path \(path.debugDescription) holds a NUL byte; name a path without one"
        case .pathIsTooLong(let path, let byteCount):
            "socket path \(path): \(byteCount) bytes exceed \(UnixAddress.pathBytesMax);"
                + " choose a shorter directory"
        case .unsafeDirectory(let path, let fault):
            "socket directory \(path) \(fault)"
        case .unsafeSocketFile(let path, let fault):
            "socket path \(path) \(fault); not removed, choose another path or remove it by hand"
        case .untrustedSocket(let path, let fault):
            "socket \(path) \(fault)"
        case .alreadyRunning(let lockPath, let pid):
            "already running \(pid.map { "pid \($0)" } ?? "(pid not written yet)"),"
                + " which holds \(lockPath)"
        case .fileInUse(let path):
            "\(path) is in use, by this process or another; end that first"
        case .unsafeFile(let path):
            "\(path) is not a regular file of ours alone; name another path"
        case .notAListener(let descriptor):
            "descriptor \(descriptor) is not a listening Unix stream socket"
        case .unfitActivation(let reason): "socket activation: \(reason)"
        }
    }
}

extension DirectoryFault: CustomStringConvertible {
    /// The reason and a remedy, to follow the directory's path.
    public var description: String {
        switch self {
        case .isMissing: "is missing; create it with mode 0700"
        case .isSymbolicLink: "is a symbolic link; name the directory itself"
        case .isNotADirectory: "is not a directory"
        case .isOwnedBy(let owner, let expected):
            "is owned by uid \(owner), expected \(expected)"
        case .isWritableByOthers(let mode):
            "has mode 0\(String(mode, radix: 8)), writable by group or others; chmod it to 0700"
        }
    }
}

extension SocketFileFault: CustomStringConvertible {
    /// The reason, to follow the file's path.
    public var description: String {
        switch self {
        case .isInUse: "is in use: another program listens there"
        case .isNotASocket(let kind): "is a \(kind), not a socket"
        case .isOwnedBy(let owner, let expected):
            "is owned by uid \(owner), expected \(expected)"
        }
    }
}

extension SocketTrustFault: CustomStringConvertible {
    /// The reason and a remedy, to follow the socket's path.
    public var description: String {
        switch self {
        case .isServedBy(let uid, let expected):
            "is served by uid \(uid), expected uid "
                + expected.map(String.init).joined(separator: " or ")
                + "; if the daemon runs as uid \(uid), name that user"
        case .directory(let path, let fault):
            "cannot be trusted: its directory \(path) \(fault)"
        }
    }
}
