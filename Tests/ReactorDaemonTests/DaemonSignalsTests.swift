import Glibc
import ReactorLoop
import ReactorThreads
import Testing

@testable import ReactorDaemon

@Suite("Daemon signals", .timeLimit(.minutes(10)))
struct DaemonSignalsTests {
    /// What a thread found out.
    private struct Found: Sendable {
        var taken: [Signal?] = []
        var heard: [Signal] = []
        var error: LoopError?
    }

    @Test("a signal waits until it is taken or the loop listens, and ends nothing in between")
    func held() throws {
        let found = Guarded(Found())
        // The signals are sent to this thread alone; it must not inherit a mask that blocks them.
        try WorkThread(name: "ending") {
            var none = sigset_t()
            unsafe sigemptyset(&none)
            unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
            let signals = DaemonSignals()
            pthread_kill(pthread_self(), SIGINT)
            found.withLock { $0.taken += [signals.take(), signals.take()] }
            // Arrives after the last look and before the loop listens.
            pthread_kill(pthread_self(), SIGTERM)
            do throws(LoopError) {
                let loop = try EventLoop()
                try signals.listen(on: loop) { signal in
                    found.withLock { $0.heard.append(signal) }
                }
                for _ in 0..<1_000 where found.withLock({ $0.heard.isEmpty }) {
                    loop.turn(.noWait)
                }
                pthread_kill(pthread_self(), SIGINT)
                found.withLock { $0.taken.append(signals.take()) }
                for _ in 0..<1_000 where found.withLock({ $0.heard.count < 2 }) {
                    loop.turn(.noWait)
                }
                signals.close()
                loop.close()
            } catch {
                found.withLock { $0.error = error }
            }
        }.join()
        let result = found.withLock { $0 }
        #expect(result.error == nil)
        #expect(result.taken == [.interrupt, nil, nil])
        #expect(result.heard == [.terminate, .interrupt])
    }

    @Test("the first error ends a daemon, and a second signal skips the snapshot")
    func ending() {
        var ending = DaemonEnding()
        ending.hurry()
        ending.close()
        #expect(ending.skipsSnapshot && ending.isClosing && ending.failure == nil)
        ending.fail(with: .interrupted(.terminate))
        ending.fail(with: .interrupted(.interrupt))
        guard case .interrupted(.terminate)? = ending.failure else {
            Issue.record("a later error replaced the first: \(String(describing: ending.failure))")
            return
        }
    }
}
