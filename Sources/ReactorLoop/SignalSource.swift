import CLibUV
import Glibc

/// A signal of the process, delivered as a loop callback.
///
/// *Place*: the daemon drains on `.terminate` and `.interrupt`. While it is open, it
/// replaces the signal's default action.
///
/// *Owner*: the loop's thread.
package final class SignalSource: LoopResource {
    /// Called each time the signal arrives; signals that arrive together may call it once.
    package var onSignal: (() -> Void)?
    /// The signal.
    package let signal: Signal

    /// Starts to handle `signal`. *C*: `uv_signal_init`, `uv_signal_start`.
    package init(_ signal: Signal, on loop: EventLoop) throws(LoopError) {
        try loop.checkIsOpen(for: "\(signal)")
        self.signal = signal
        unsafe super.init(on: loop, as: uv_signal_t.self)
        let source = unsafe memory.assumingMemoryBound(to: uv_signal_t.self)
        var code = unsafe uv_signal_init(loop.raw, source)
        guard code == 0 else {
            throw .call(CallFailure(call: "uv_signal_init", code: code, subject: "\(signal)"))
        }
        adopt()
        code = unsafe uv_signal_start(
            source,
            { source, _ in
                guard let data = unsafe source?.pointee.data else { return }
                unsafe Unmanaged<SignalSource>.fromOpaque(data).takeUnretainedValue().arrive()
            }, signal.rawValue)
        guard code == 0 else {
            close()
            throw .call(CallFailure(call: "uv_signal_start", code: code, subject: "\(signal)"))
        }
        // Last: a signal that was held back arrives at once, and must find its handler.
        Self.unblock(signal)
    }

    override func didClose() {
        onSignal = nil
    }

    // A process inherits its parent's mask; a blocked signal would never arrive.
    private static func unblock(_ signal: Signal) {
        var mask = sigset_t()
        unsafe sigemptyset(&mask)
        unsafe sigaddset(&mask, signal.rawValue)
        unsafe pthread_sigmask(SIG_UNBLOCK, &mask, nil)
    }

    private func arrive() {
        loop.noteActivity()
        onSignal?()
    }
}

/// A signal's number.
public struct Signal: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The system's number.
    public let rawValue: Int32

    /// Makes the signal with this number.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// SIGTERM: end in an orderly way.
    package static let terminate = Signal(rawValue: SIGTERM)
    /// SIGINT: Ctrl-C.
    package static let interrupt = Signal(rawValue: SIGINT)
    /// SIGHUP: read the configuration again.
    package static let hangUp = Signal(rawValue: SIGHUP)
    /// SIGUSR1: free for the application.
    package static let user1 = Signal(rawValue: SIGUSR1)
    /// SIGUSR2: free for the application.
    package static let user2 = Signal(rawValue: SIGUSR2)
    /// SIGWINCH: the terminal changed its size.
    package static let windowChange = Signal(rawValue: SIGWINCH)

    /// The number, for messages.
    public var description: String { "signal \(rawValue)" }
}
