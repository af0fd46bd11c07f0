import Glibc
import ReactorThreads

/// Runs a closure before SIGTERM or SIGINT ends a process without a loop.
///
/// *Place*: a program that prints what it has done so far. *Owner*: any thread.
package enum SignalWatch {
    /// Calls `body` when one of the signals arrives; the signal then ends the process as it would
    /// have done without this call. Signals that the process was started to ignore stay ignored.
    ///
    /// Runs `body` on a separate thread, which lasts as long as the process. Without such a
    /// thread the signals end the process at once.
    package static func start(_ body: @escaping @Sendable (Signal) -> Void) {
        _ = try? WorkThread(name: "signals") {
            guard let loop = try? EventLoop() else { return }
            let signals = [Signal.terminate, .interrupt].filter { !$0.isIgnored }
            let sources = signals.compactMap { signal -> SignalSource? in
                let source = try? SignalSource(signal, on: loop)
                source?.onSignal = {
                    body(signal)
                    Glibc.signal(signal.rawValue, SIG_DFL)
                    raise(signal.rawValue)
                }
                return source
            }
            loop.run()
            withExtendedLifetime(sources) {}
        }
    }
}
