import Glibc
import Testing

@testable import ReactorLoop

@Suite struct BrokenPipeTests {
    @Test("a process that handles the signal itself keeps doing so")
    func keepsAHandler() async {
        await #expect(processExitsWith: .exitCode(7)) {
            signal(SIGPIPE) { _ in _exit(7) }
            BrokenPipe.ignore()
            raiseBrokenPipe()
        }
    }

    @Test("W22: a process without a handler is no longer ended by the signal")
    func ignoresByDefault() async {
        await #expect(processExitsWith: .signal(SIGPIPE)) {
            signal(SIGPIPE, SIG_DFL)
            raiseBrokenPipe()
        }
        await #expect(processExitsWith: .exitCode(7)) {
            signal(SIGPIPE, SIG_DFL)
            BrokenPipe.ignore()
            raiseBrokenPipe()
            exit(7)
        }
    }
}

/// Raises SIGPIPE on this thread, which the concurrency runtime may have blocked.
private func raiseBrokenPipe() {
    var signals = sigset_t()
    unsafe sigemptyset(&signals)
    unsafe sigaddset(&signals, SIGPIPE)
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(SIGPIPE)
}
