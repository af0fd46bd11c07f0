import ReactorThreads

/// Whether writes to a data directory can be relied on; checked before every write.
///
/// *Place*: shared by the threads that commit, checkpoint and write snapshots. A disk failure seen
/// by one of them applies to all: after a refused `fsync`, a second one reports success although
/// the data is lost. *Owner*: any thread.
final class JournalHealth: Sendable {
    private struct State {
        var error: JournalError?
        var onBroken: (@Sendable (JournalError) -> Void)?
    }

    private let state = Guarded(State())

    /// Throws the error with which the disk has failed, if it has.
    func check() throws(JournalError) {
        if let error = state.withLock({ $0.error }) { throw error }
    }

    /// Whether no failure has been recorded.
    var isGood: Bool { state.withLock { $0.error == nil } }

    /// Records that the disk has failed; returns whether this is the first failure.
    func recordFailure(_ error: JournalError) -> Bool {
        state.withLock { state in
            guard state.error == nil else { return false }
            state.error = error
            return true
        }
    }

    /// Records that the disk has failed, and reports the first failure to the listener.
    func report(_ error: JournalError) {
        guard recordFailure(error) else { return }
        state.withLock { $0.onBroken }?(error)
    }

    /// Sets the listener, which is called on the thread that detects a failure; nil removes it.
    func listen(_ onBroken: (@Sendable (JournalError) -> Void)?) {
        state.withLock { $0.onBroken = onBroken }
    }
}
