import CLibUV
import Glibc

/// One refused call: which, on what, and what the system answered.
public struct CallFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The function that was refused, such as `uv_pipe_open` or `bind`.
    public let call: String
    /// libuv's code, which on Linux is the negative `errno`.
    public let code: Int32
    /// What the call was about: a path, or the kind of thing that was to be made.
    public let subject: String

    /// Describes the refusal of `call` on `subject` with libuv's `code`.
    public init(call: String, code: Int32, subject: String) {
        self.call = call
        self.code = code
        self.subject = subject
    }

    /// Describes the refusal of a system call, from `errno`, which it must be the first to read.
    static func system(_ call: String, _ subject: String) -> CallFailure {
        CallFailure(call: call, code: -errno, subject: subject)
    }

    /// The positive `errno` value, to compare with `ECONNREFUSED` and the like.
    public var errnoCode: Int32 { -code }

    /// The code's symbol, such as `EADDRINUSE`. *C*: `uv_err_name_r`.
    public var name: String {
        unsafe Self.text { unsafe uv_err_name_r(code, $0, $1) }
    }

    /// The system's words for the code. *C*: `uv_strerror_r`.
    public var message: String {
        unsafe Self.text { unsafe uv_strerror_r(code, $0, $1) }
    }

    /// The call, the subject, the symbol and the words, in one line.
    public var description: String {
        "\(call) on \(subject): \(message) (\(name))"
    }

    private static func text(
        _ fill: (UnsafeMutablePointer<CChar>, Int) -> UnsafeMutablePointer<CChar>?
    ) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let base = buffer.baseAddress else { return "" }
            unsafe base.initialize(repeating: 0, count: 128)
            _ = unsafe fill(base, 128)
            return unsafe String(cString: base)
        }
    }
}
