import CLibUV
import Glibc

/// A failed call: its function, its subject, and the system's error.
public struct CallFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The function that failed, such as `uv_pipe_open` or `bind`.
    public let call: String
    /// libuv's code, which on Linux is the negative `errno`.
    public let code: Int32
    /// The subject of the call: a path, or the kind of object to be created.
    public let subject: String

    /// Describes the failure of `call` on `subject` with libuv's `code`.
    package init(call: String, code: Int32, subject: String) {
        self.call = call
        self.code = code
        self.subject = subject
    }

    /// Describes the failure of a system call, from `errno`; call it directly after that call,
    /// since any other call may change `errno`.
    static func system(_ call: String, _ subject: String) -> CallFailure {
        CallFailure(call: call, code: -errno, subject: subject)
    }

    /// The positive `errno` value, to compare with `ECONNREFUSED` and the like.
    package var errnoCode: Int32 { -code }

    /// The code's symbol, such as `EADDRINUSE`. *C*: `uv_err_name_r`.
    package var name: String {
        unsafe Self.text { unsafe uv_err_name_r(code, $0, $1) }
    }

    /// The system's text for the code. *C*: `uv_strerror_r`.
    package var message: String {
        unsafe Self.text { unsafe uv_strerror_r(code, $0, $1) }
    }

    /// One line with the call, the subject, the text and the symbol.
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
