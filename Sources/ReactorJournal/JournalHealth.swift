import ReactorThreads

/// Whether what is written into a data directory can be relied on, asked before every write.
///
/// *Place*: shared by the threads that commit, make checkpoints and write snapshots. A disk that
/// has failed one of them has failed all: what an `fsync` has refused once, a second one calls
/// durable, and it is not. *Owner*: any thread.
final class JournalHealth: Sendable {
    private struct State {
        var error: JournalError?
        var onBroken: (@Sendable (JournalError) -> Void)?
    }

    private let state = Guarded(State())

    /// Refuses where the disk has failed before. *Throws*: what it failed by.
    func check() throws(JournalError) {
        if let error = state.withLock({ $0.error }) { throw error }
    }

    /// Whether nothing has failed yet.
    var isGood: Bool { state.withLock { $0.error == nil } }

    /// Notes that the disk has failed; whether it is the first to be noted, which is to be told.
    func breaks(by error: JournalError) -> Bool {
        state.withLock { state in
            guard state.error == nil else { return false }
            state.error = error
            return true
        }
    }

    /// Notes that the disk has failed, and tells who listens, if nobody has before.
    func report(_ error: JournalError) {
        guard breaks(by: error) else { return }
        state.withLock { $0.onBroken }?(error)
    }

    /// Names who is told, on the thread that found out; nil for nobody.
    func listen(_ onBroken: (@Sendable (JournalError) -> Void)?) {
        state.withLock { $0.onBroken = onBroken }
    }
}
