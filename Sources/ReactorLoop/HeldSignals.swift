import Glibc

/// Blocks signals, so that they wait for a ``SignalSource`` instead of ending the process.
///
/// *Place*: a daemon blocks the signals that end it from before it binds its socket until its loop
/// runs, and checks in between whether one is pending. *Owner*: one thread, before it starts
/// others, which inherit the mask.
package final class HeldSignals {
    private var held: [Signal] = []

    /// Blocks `signals`, except those that are blocked already. *C*: `pthread_sigmask`.
    package init(_ signals: [Signal]) {
        var former = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, nil, &former)
        held = signals.filter { unsafe sigismember(&former, $0.rawValue) == 0 }
        var mask = Self.mask(of: held)
        unsafe pthread_sigmask(SIG_BLOCK, &mask, nil)
    }

    deinit { release() }

    /// Takes a waiting signal, if there is one. *C*: `sigtimedwait` with no timeout.
    package func take() -> Signal? {
        guard !held.isEmpty else { return nil }
        var mask = Self.mask(of: held)
        var moment = timespec()
        let number = unsafe sigtimedwait(&mask, nil, &moment)
        return number > 0 ? Signal(rawValue: number) : nil
    }

    /// Unblocks the signals; waiting ones are delivered at once, to a ``SignalSource`` if there is
    /// one.
    package func release() {
        var mask = Self.mask(of: held)
        held = []
        unsafe pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    }

    private static func mask(of signals: [Signal]) -> sigset_t {
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        for signal in signals { unsafe sigaddset(&mask, signal.rawValue) }
        return mask
    }
}

extension Signal {
    /// Whether the process ignores the signal, as after `nohup`. *C*: `sigaction`.
    package var isIgnored: Bool {
        var current = sigaction()
        guard unsafe sigaction(rawValue, nil, &current) == 0 else { return false }
        // SIG_IGN is the address 1, which Swift cannot compare as a function.
        return unsafe unsafeBitCast(current.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    /// Signals without a meaning for a daemon that end a process by default; without those for
    /// program faults and core dumps.
    static var stray: [Signal] {
        let numbers = [
            SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR, SIGSTKFLT, SIGXFSZ,
        ]
        let realTime = __libc_current_sigrtmin()...__libc_current_sigrtmax()
        return (numbers + realTime).map(Signal.init(rawValue:))
    }

    /// Installs an empty handler for each stray signal that has none. *C*: `sigaction`.
    ///
    /// The signals are not ignored, since programs that the process starts would inherit that.
    package static func takeStray() {
        for signal in stray { signal.absorb() }
    }

    /// Installs an empty handler for the signal if it has none. *C*: `sigaction`.
    package func absorb() {
        var action = sigaction()
        guard unsafe sigaction(rawValue, nil, &action) == 0,
            unsafe action.__sigaction_handler.sa_handler == nil
        else { return }
        unsafe action.__sigaction_handler.sa_handler = { _ in }
        action.sa_flags = SA_RESTART
        unsafe sigaction(rawValue, &action, nil)
    }
}
