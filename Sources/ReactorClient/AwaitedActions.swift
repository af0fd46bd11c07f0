import ReactorCore

/// Actions whose sender waits until their effects have ended.
///
/// *Place*: beside ``PendingActions``, where such an action keeps its slot until it is done: so it
/// counts against the window, and is sent again on a new connection like one without an outcome.
struct AwaitedActions {
    /// Told of an outcome when it comes, which is before its sender is.
    typealias Listener = (ActionOutcome) -> Void

    private var entries: [UInt64: Entry] = [:]

    private struct Entry {
        var outcome: ActionOutcome?
        var listener: Listener?
    }

    var isEmpty: Bool { entries.isEmpty }

    var count: Int { entries.count }

    mutating func add(_ ordinal: UInt64, _ listener: Listener?) {
        entries[ordinal] = Entry(outcome: nil, listener: listener)
    }

    func contains(_ ordinal: UInt64) -> Bool { entries[ordinal] != nil }

    /// The outcome of an action that is not done yet, if it has come.
    func outcome(of ordinal: UInt64) -> ActionOutcome? { entries[ordinal]?.outcome }

    /// Keeps an outcome until its action is done, and gives who is to be told of it at once.
    mutating func note(_ outcome: ActionOutcome, of ordinal: UInt64) -> Listener? {
        guard let entry = entries[ordinal] else { return nil }
        // because a daemon that no longer remembers the outcome says so, and it is known here
        if entry.outcome == nil || outcome != .unknown(.forgotten) {
            entries[ordinal]?.outcome = outcome
        }
        entries[ordinal]?.listener = nil
        return entry.listener
    }

    /// Takes an action out, and gives who has not been told of its outcome.
    mutating func remove(_ ordinal: UInt64) -> Listener? {
        entries.removeValue(forKey: ordinal)?.listener
    }

    /// Moves every ordinal up.
    mutating func shift(by count: UInt64) {
        var moved: [UInt64: Entry] = [:]
        for (ordinal, entry) in entries { moved[ordinal &+ count] = entry }
        entries = moved
    }
}
