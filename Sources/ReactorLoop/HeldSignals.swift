import Glibc

/// Signals that wait, instead of ending the process, until ``SignalSource``s take them.
///
/// *Place*: a daemon holds what ends it from before its socket is bound until its loop turns, and
/// looks in between whether one waits. *Owner*: one thread, before it starts others, which inherit
/// the mask.
public final class HeldSignals {
    private var held: [Signal] = []

    /// Holds `signals`, save those that wait already. *C*: `pthread_sigmask`.
    public init(_ signals: [Signal]) {
        var former = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, nil, &former)
        held = signals.filter { unsafe sigismember(&former, $0.rawValue) == 0 }
        var mask = Self.mask(of: held)
        unsafe pthread_sigmask(SIG_BLOCK, &mask, nil)
    }

    deinit { release() }

    /// Takes one that waits, if any does. *C*: `sigtimedwait`, which does not wait here.
    public func take() -> Signal? {
        guard !held.isEmpty else { return nil }
        var mask = Self.mask(of: held)
        var moment = timespec()
        let number = unsafe sigtimedwait(&mask, nil, &moment)
        return number > 0 ? Signal(rawValue: number) : nil
    }

    /// Lets go of them; what waits is delivered at once, to a ``SignalSource`` where there is one.
    public func release() {
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
    /// Whether the process does nothing about it, as after `nohup`. *C*: `sigaction`.
    public var isIgnored: Bool {
        var current = sigaction()
        guard unsafe sigaction(rawValue, nil, &current) == 0 else { return false }
        // SIG_IGN is the address 1, which is no function that Swift could compare.
        return unsafe unsafeBitCast(current.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    /// Signals that end a process which has no use for them, by default; those for faults of the
    /// program and for core dumps are not among them.
    static var stray: [Signal] {
        let numbers = [
            SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR, SIGSTKFLT, SIGXFSZ,
        ]
        let realTime = __libc_current_sigrtmin()...__libc_current_sigrtmax()
        return (numbers + realTime).map(Signal.init(rawValue:))
    }

    /// Has the process do nothing at a stray signal, unless it does something about it already.
    /// *C*: `sigaction`.
    ///
    /// A function that does nothing takes them, as programs that the process starts would inherit
    /// it if they were ignored.
    public static func takeStray() {
        for signal in stray {
            var action = sigaction()
            guard unsafe sigaction(signal.rawValue, nil, &action) == 0,
                unsafe action.__sigaction_handler.sa_handler == nil
            else { continue }
            unsafe action.__sigaction_handler.sa_handler = { _ in }
            action.sa_flags = SA_RESTART
            unsafe sigaction(signal.rawValue, &action, nil)
        }
    }
}
