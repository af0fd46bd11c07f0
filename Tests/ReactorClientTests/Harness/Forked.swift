import Glibc
import Testing

/// Runs a closure in a forked process.
enum Forked {
    /// The exit code of a process that was forked to run `body`, which does next to nothing: only
    /// the calling thread is there, and what others were doing is left half done.
    static func status(_ body: () -> Int32) throws -> Int32 {
        typealias Fork = @convention(c) () -> pid_t
        // because Swift hides `fork` for good reasons, none of which holds for a test of it
        let symbol = unsafe dlsym(nil, "fork")
        try #require(unsafe symbol != nil)
        let fork = unsafe unsafeBitCast(symbol, to: Fork.self)
        let pid = fork()
        if pid == 0 {
            // because a child that is stuck must not stop the tests
            alarm(20)
            _exit(body())
        }
        var status: Int32 = 0
        while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
        // because the low byte is the signal that ended it, if one did
        return status & 0x7f == 0 ? status >> 8 & 0xff : -(status & 0x7f)
    }
}
