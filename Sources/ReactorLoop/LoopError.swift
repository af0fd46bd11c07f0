/// Everything this room refuses, by the condition that caused it.
///
/// *Place*: what the daemon and the client show to their operator; each description says what
/// failed, on what, what was expected, and what helps.
public enum LoopError: Error, Equatable, Sendable {
    /// A call to libuv or the system was refused.
    case call(CallFailure)
    /// The loop was closed before the call about `subject`.
    case loopIsClosed(subject: String)
    /// The socket's path is empty.
    case pathIsEmpty
    /// The socket's path holds a NUL byte, at which the system would cut it.
    case pathHoldsNUL(path: String)
    /// The socket's path does not fit `sun_path`.
    case pathIsTooLong(path: String, byteCount: Int)
    /// The directory that is to hold the socket is not safe to use.
    case unsafeDirectory(path: String, DirectoryFault)
    /// What lies at the socket's path is not a stale socket of ours.
    case unsafeSocketFile(path: String, SocketFileFault)
    /// The socket at the path is not one that the daemon's users alone can have put there.
    case untrustedSocket(path: String, SocketTrustFault)
    /// Another process holds the lock file. `pid` is nil when it has not written its own yet.
    case alreadyRunning(lockPath: String, pid: Int32?)
    /// Another, in this process or another, has the file.
    case fileInUse(path: String)
    /// The file is not a regular one of ours.
    case unsafeFile(path: String)
    /// The inherited descriptor is not a listening Unix stream socket.
    case notAListener(descriptor: Int32)

    /// The refused call, when that is what happened.
    public var failure: CallFailure? {
        if case .call(let failure) = self { failure } else { nil }
    }
}

/// Why a directory is not safe to hold a socket.
public enum DirectoryFault: Equatable, Sendable {
    /// Nothing is there.
    case isMissing
    /// It is a symbolic link, which could be led elsewhere.
    case isSymbolicLink
    /// It is a file of another kind.
    case isNotADirectory
    /// It belongs to `owner`, not to us.
    case isOwnedBy(owner: UInt32, expected: UInt32)
    /// Its group or everybody may write to it. `mode` holds the permission bits.
    case isWritableByOthers(mode: UInt32)
}

/// Why a file at the socket's path is not ours to remove.
public enum SocketFileFault: Equatable, Sendable {
    /// It is not a socket but a `kind`, such as "directory".
    case isNotASocket(kind: String)
    /// It belongs to `owner`, not to us.
    case isOwnedBy(owner: UInt32, expected: UInt32)
    /// A process that does not hold the lock listens there: another program.
    case isInUse
}

extension LoopError: CustomStringConvertible {
    /// What failed, on what, expected and got, and what helps.
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
        }
    }
}

extension DirectoryFault: CustomStringConvertible {
    /// The reason and what helps, to follow the directory's path.
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
