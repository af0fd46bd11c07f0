import Glibc

/// One refused system call: which, on what, and what the system answered.
public struct SystemFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The function that was refused, such as `fdatasync`.
    public let call: String
    /// The path that the call was about.
    public let path: String
    /// The positive `errno` value.
    public let code: Int32

    /// Describes the refusal of `call` on `path` with `code`.
    public init(call: String, path: String, code: Int32) {
        self.call = call
        self.path = path
        self.code = code
    }

    /// Describes a refusal from `errno`, which it must be the first to read.
    static func now(_ call: String, _ path: String) -> SystemFailure {
        SystemFailure(call: call, path: path, code: errno)
    }

    /// Whether there was no room: on the disk, in a quota, or below the largest size of a file.
    var isFull: Bool { Self.fullCodes.contains(code) }

    // because these say nothing of the disk
    /// Whether the process, or the machine, had nothing left to open a file with, or was interrupted.
    var isOfProcess: Bool { [EMFILE, ENFILE, ENOMEM, EAGAIN, EINTR].contains(code) }

    static let fullCodes: Set = [ENOSPC, EDQUOT, EFBIG]

    /// The system's words for a code.
    static func words(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }

    /// The call, the path and the system's words, in one line.
    public var description: String { "\(call) on \(path): \(Self.words(code))" }
}

extension JournalError {
    /// Says that nobody wants any more what was being done to `file`.
    static func cancelled(_ file: String) -> JournalError {
        .system(SystemFailure(call: "read", path: file, code: ECANCELED))
    }

    /// Whether a file is not there.
    var isAbsence: Bool {
        guard case .system(let failure) = self else { return false }
        return failure.code == ENOENT
    }
}
