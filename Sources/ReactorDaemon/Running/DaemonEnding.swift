import ReactorLoop

/// The signals that end a daemon: held back until its loop runs, then passed to it.
///
/// *Invariants*: signals are held back or listened to, never both. *Owner*: the daemon's thread.
final class EndingSignals {
    private let held: HeldSignals
    private var sources: [SignalSource] = []
    private var isListening = false

    /// Signals that start a drain; without SIGHUP if it is ignored, as after `nohup`.
    private static var all: [Signal] {
        [.terminate, .interrupt] + (Signal.hangUp.isIgnored ? [] : [.hangUp])
    }

    /// Holds the signals back from now on.
    init() {
        Signal.takeStray()
        held = HeldSignals(Self.all)
    }

    /// Takes a signal that arrived during the start, if there is one. Later the loop receives them,
    /// also while a full disk makes the daemon replay its history again.
    func take() -> Signal? { isListening ? nil : held.take() }

    /// Calls `onSignal` for each signal from now on, also for those that were held back.
    func listen(
        on loop: EventLoop, onSignal: @escaping (Signal) -> Void
    ) throws(LoopError) {
        for signal in Self.all {
            let source = try SignalSource(signal, on: loop)
            source.onSignal = { onSignal(signal) }
            sources.append(source)
        }
        isListening = true
        held.release()
    }

    /// Lets a further signal end the process.
    func close() { for source in sources { source.close() } }
}

/// How a daemon ends: through a signal, a second signal, or an error.
///
/// *Invariants*: the first error is kept. *Owner*: the daemon's thread.
struct DaemonEnding {
    /// The error that ended the daemon; nil if a signal did.
    private(set) var failure: DaemonError?
    /// True after a second signal: the daemon ends at once, without a last snapshot.
    private(set) var skipsSnapshot = false
    /// True once the loop has stopped for the shutdown.
    private(set) var isClosing = false

    /// Records an error, unless one was recorded before.
    mutating func fail(with error: DaemonError) { if failure == nil { failure = error } }

    /// Records that the daemon is to end without a last snapshot.
    mutating func hurry() { skipsSnapshot = true }

    /// Records that the loop has stopped, so that a full disk no longer leads to a new server.
    mutating func close() {
        precondition(failure == nil, "a daemon with an error is cut and not closed")
        isClosing = true
    }
}
