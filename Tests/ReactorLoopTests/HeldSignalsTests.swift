import Glibc
import ReactorLoop
import ReactorThreads
import Testing

@Suite("held signals", .timeLimit(.minutes(10)))
struct HeldSignalsTests {
    /// Runs `body` on a thread whose mask is its own, and sends signals to that thread alone.
    private func onThread(_ body: sending @escaping () -> Void) throws {
        // The threads that tests run on block most signals, and a thread inherits that.
        try WorkThread(name: "held") {
            var none = sigset_t()
            unsafe sigemptyset(&none)
            unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
            body()
        }.join()
    }

    @Test("a signal waits while it is held, and is taken once")
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

    @Test("what is let go of is as it was: what was held before stays so")
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

    @Test("a signal that a process ignores is known for it")
    func ignored() {
        let former = signal(SIGTTOU, SIG_IGN)
        #expect(Signal(rawValue: SIGTTOU).isIgnored)
        _ = signal(SIGTTOU, former)
        #expect(!Signal(rawValue: SIGKILL).isIgnored)
    }

    @Test("a stray signal ends nothing, and what a program takes already stays its own")
    func stray() {
        Signal.takeStray()
        // The default of either ends the process.
        kill(getpid(), SIGUSR2)
        kill(getpid(), SIGVTALRM)
        #expect(!Signal(rawValue: SIGUSR2).isIgnored)
    }
}
