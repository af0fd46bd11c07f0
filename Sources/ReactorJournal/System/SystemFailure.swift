import Glibc

/// A refused system call, its subject, and the system's error code.
public struct SystemFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The function's name, such as `fdatasync`.
    package let call: String
    /// The path to which the call applied.
    package let path: String
    /// The positive `errno` value.
    package let code: Int32

    /// Creates a description of a refused call.
    package init(call: String, path: String, code: Int32) {
        self.call = call
        self.path = path
        self.code = code
    }

    /// Creates a description from `errno`; no call may come between.
    static func now(_ call: String, _ path: String) -> SystemFailure {
        SystemFailure(call: call, path: path, code: errno)
    }

    /// Whether there was no room: on the disk, in a quota, or below the maximum size of a file.
    var isFull: Bool { Self.fullCodes.contains(code) }

    /// Whether the process or the machine had no resources to open a file, or the call was
    /// interrupted. These codes are not failures of the disk.
    var isOfProcess: Bool { [EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR].contains(code) }

    static let fullCodes: Set = [ENOSPC, EDQUOT, EFBIG]

    /// The system's text for a code.
    static func words(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }

    /// The call, the path and the system's text, in one line.
    public var description: String { "\(call) on \(path): \(Self.words(code))" }
}
