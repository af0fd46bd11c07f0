import Glibc
import ReactorLoop
import ReactorThreads
import Testing

@Suite("Held signals", .timeLimit(.minutes(10)))
struct HeldSignalsTests {
    /// Runs `body` on a thread with its own signal mask, and sends signals to that thread only.
    private func onThread(_ body: sending @escaping () -> Void) throws {
        // The test threads block most signals, and a new thread inherits the mask.
        try WorkThread(name: "held") {
            var none = sigset_t()
            unsafe sigemptyset(&none)
            unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
            body()
        }.join()
    }

    @Test("a held signal waits, and is taken once")
    func taken() throws {
        let taken = Guarded<[Signal?]>([])
        try onThread {
            let held = HeldSignals([.windowChange, .user2])
            taken.withLock { $0.append(held.take()) }
            pthread_kill(pthread_self(), SIGUSR2)
            taken.withLock { $0 += [held.take(), held.take()] }
            held.release()
            taken.withLock { $0.append(held.take()) }
        }
        #expect(taken.withLock { $0 } == [nil, .user2, nil, nil])
    }

    @Test("release restores the former mask: signals blocked before stay blocked")
    func restored() throws {
        let isHeld = Guarded<[Bool]>([])
        try onThread {
            let outer = HeldSignals([.windowChange])
            let inner = HeldSignals([.windowChange, .user2])
            inner.release()
            var mask = sigset_t()
            unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
            isHeld.withLock {
                $0 = [SIGWINCH, SIGUSR2].map { unsafe sigismember(&mask, $0) == 1 }
            }
            outer.release()
        }
        #expect(isHeld.withLock { $0 } == [true, false])
    }

    @Test("a signal ignored by the process is recognised")
    func ignored() async {
        // In a separate process: programs that other tests start would ignore it as well.
        await #expect(processExitsWith: .success) {
            signal(SIGTTOU, SIG_IGN)
            #expect(Signal(rawValue: SIGTTOU).isIgnored)
            #expect(!Signal(rawValue: SIGKILL).isIgnored)
        }
    }

    @Test("a stray signal ends nothing, and signals that the program handles keep their handlers")
    func stray() async {
        // In a separate process: libuv resets the handlers of other tests' signals.
        await #expect(processExitsWith: .success) {
            Signal.takeStray()
            // The default action of both would end the process.
            kill(getpid(), SIGUSR2)
            kill(getpid(), SIGVTALRM)
            #expect(!Signal(rawValue: SIGUSR2).isIgnored)
        }
    }
}
