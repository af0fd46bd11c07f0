import ReactorCore
import ReactorLoop

/// The signals of a daemon, those that end it and SIGHUP: held back until its loop runs, then passed
/// to it.
///
/// *Invariants*: signals are held back or listened to, never both. *Owner*: the daemon's thread.
final class DaemonSignals {
    private let ending: HeldSignals
    private let reload: HeldSignals
    private var sources: [SignalSource] = []
    private var isListening = false

    /// Signals that start a drain.
    private static let ends: [Signal] = [.terminate, .interrupt]
    /// SIGHUP, unless it is ignored, as after `nohup`.
    private static var reloads: [Signal] { Signal.hangUp.isIgnored ? [] : [.hangUp] }

    /// Holds the signals back from now on.
    init() {
        Signal.takeStray()
        ending = HeldSignals(Self.ends)
        reload = HeldSignals(Self.reloads)
    }

    /// Takes a signal that arrived during the start and ends it, if there is one. Later the loop
    /// receives them, also while a full disk makes the daemon replay its history again.
    func take() -> Signal? { isListening ? nil : ending.take() }

    /// Calls `onSignal` for each signal from now on, also for those that were held back.
    func listen(
        on loop: EventLoop, onSignal: @escaping (Signal) -> Void
    ) throws(LoopError) {
        for signal in Self.ends + Self.reloads {
            let source = try SignalSource(signal, on: loop)
            source.onSignal = { onSignal(signal) }
            sources.append(source)
        }
        isListening = true
        ending.release()
        reload.release()
    }

    /// Lets a further signal end the process, except SIGHUP, which has no effect from now on.
    func close() {
        let held = HeldSignals(Self.reloads)
        for source in sources { source.close() }
        if !Signal.hangUp.isIgnored { Signal.hangUp.absorb() }
        held.release()
    }
}

/// How a daemon ends: through a signal, a second signal, or an error.
///
/// *Invariants*: the first error is kept. *Owner*: the daemon's thread.
struct DaemonEnding {
    /// The error that ended the daemon; nil if a signal did.
    private(set) var failure: DaemonError?
    /// True after a second signal: the daemon ends at once, without a last snapshot.
    private(set) var skipsSnapshot = false
    /// Whether the daemon hands over the leadership of its cluster before it stops.
    private(set) var isLeaving = false
    /// True once the loop has stopped for the shutdown.
    private(set) var isClosing = false
    /// Ends the wait for clients, and then that for effects.
    var deadline: LoopTimer?
    /// The effects and sagas that were cancelled for the shutdown; nil before that.
    var dismissed: DismissedEffects?

    /// Records an error, unless one was recorded before.
    mutating func fail(with error: DaemonError) { if failure == nil { failure = error } }

    /// Records that the daemon is to end without a last snapshot.
    mutating func hurry() { skipsSnapshot = true }

    /// Records that the leadership is being handed over.
    mutating func leave() { isLeaving = true }

    /// Records that the loop has stopped, so that a full disk no longer leads to a new server.
    mutating func close() {
        precondition(failure == nil, "a daemon with an error is cut and not closed")
        isClosing = true
    }
}
