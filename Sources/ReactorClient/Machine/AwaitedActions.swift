import ReactorCore

/// Actions whose sender waits until their effects have ended.
///
/// *Place*: beside ``PendingActions``, where such an action keeps its slot until its effects have
/// ended. Until then it counts against the window, and is sent again on a new connection like an
/// action without an outcome.
struct AwaitedActions {
    /// Receives an outcome when it arrives, which is before the effects have ended.
    typealias Listener = (ActionOutcome) -> Void

    private var entries: [UInt64: Entry] = [:]

    private struct Entry {
        var outcome: ActionOutcome?
        var listener: Listener?
    }

    var isEmpty: Bool { entries.isEmpty }

    var count: Int { entries.count }

    /// Ordinals of the actions.
    var ordinals: some Collection<UInt64> { entries.keys }

    mutating func add(_ ordinal: UInt64, _ listener: Listener?) {
        entries[ordinal] = Entry(outcome: nil, listener: listener)
    }

    func contains(_ ordinal: UInt64) -> Bool { entries[ordinal] != nil }

    /// The outcome of an action whose effects have not ended, if it has arrived.
    func outcome(of ordinal: UInt64) -> ActionOutcome? { entries[ordinal]?.outcome }

    /// Keeps an outcome until the effects have ended; with the first outcome, returns the listener.
    mutating func keep(_ outcome: ActionOutcome, of ordinal: UInt64) -> Listener? {
        guard let entry = entries[ordinal] else { return nil }
        // A daemon that has forgotten the outcome must not replace the outcome that the client
        // knows.
        if entry.outcome == nil || outcome != .unknown(.forgotten) {
            entries[ordinal]?.outcome = outcome
        }
        entries[ordinal]?.listener = nil
        return entry.listener
    }

    /// Takes an action out; returns the listener if it was not called yet.
    mutating func remove(_ ordinal: UInt64) -> Listener? {
        entries.removeValue(forKey: ordinal)?.listener
    }

    /// Raises every ordinal.
    mutating func shift(by count: UInt64) {
        var moved: [UInt64: Entry] = [:]
        for (ordinal, entry) in entries { moved[ordinal &+ count] = entry }
        entries = moved
    }
}
