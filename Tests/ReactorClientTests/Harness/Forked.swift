import Glibc
import Testing

/// Runs a closure in a forked process.
enum Forked {
    /// The exit code of a forked process that runs `body`. Only the calling thread exists there and
    /// the state of others is inconsistent, so `body` must do very little.
    static func status(_ body: () -> Int32) throws -> Int32 {
        typealias Fork = @convention(c) () -> pid_t
        // Swift does not import `fork`, for good reasons, which do not apply to its test.
        let symbol = unsafe dlsym(nil, "fork")
        try #require(unsafe symbol != nil)
        let fork = unsafe unsafeBitCast(symbol, to: Fork.self)
        let pid = fork()
        if pid == 0 {
            // A child that hangs must not block the tests.
            alarm(20)
            _exit(body())
        }
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
        // The low byte is the signal that ended the process, if any.
        return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
    }
}
