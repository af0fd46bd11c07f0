import ReactorThreads

/// Admits one writing connection at a time, and gives waiting upkeep the next turn.
///
/// *Place*: around each transaction of the committer and of the upkeep. With a mutex alone, a
/// committer that unlocks and locks again at once could keep the upkeep out, and trimming would
/// fall behind. *Owner*: any thread.
final class JournalGate: Sendable {
    private let next = Lock()
    private let inside = Lock()

    /// Runs a commit, after any upkeep that is waiting.
    func commit<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        next.withLock {}
        return try inside.withLock(body)
    }

    /// Runs a commit if no other thread is inside or waiting; otherwise returns nil without running
    /// it.
    func commitIfFree<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard next.withLockIfFree({}) != nil else { return nil }
        return try inside.withLockIfFree(body)
    }

    /// Runs upkeep after the commit in progress.
    func upkeep<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try next.withLock { () throws(Failure) in try inside.withLock(body) }
    }
}

/// Delays the writer when trimming falls behind.
///
/// *Place*: between the committer, which writes, and the upkeep, which trims. During a trim, the
/// writer may be ``byteCountMax`` bytes ahead of it: the journal grows by at most that, and a trim
/// of a long journal does not stop the writer until its end. *Owner*: any thread; one thread waits.
final class TrimPace: Sendable {
    private struct State {
        /// Number of requested trims that have not ended.
        var trimCount = 0
        /// Bytes written minus bytes deleted, since the first of these trims was requested; at
        /// least 0.
        var byteCount = 0
        var isOver = false
    }

    private let state = Guarded(State())
    private let bell = Bell()
    /// Bytes that may be written during a trim.
    private let byteCountMax: Int

    init(byteCountMax: Int) { self.byteCountMax = byteCountMax }

    /// Bytes written minus bytes deleted since the first of the trims in progress was requested.
    var lagByteCount: Int { state.withLock { $0.byteCount } }

    /// Called when a trim is requested.
    func begin() { state.withLock { $0.trimCount += 1 } }

    /// Called when a trim has ended or was abandoned.
    func end() {
        state.withLock { state in
            state.trimCount -= 1
            if state.trimCount == 0 { state.byteCount = 0 }
        }
        bell.ring()
    }

    /// Counts bytes that a trim has deleted; the writer may write as many more.
    func trimmed(_ byteCount: Int) {
        state.withLock { $0.byteCount = max(0, $0.byteCount - byteCount) }
        bell.ring()
    }

    /// Counts bytes that are about to be written; returns false if they must wait for trimming.
    func admit(_ byteCount: Int) -> Bool {
        state.withLock { state in
            guard state.trimCount > 0, !state.isOver else { return true }
            guard state.byteCount < byteCountMax else { return false }
            state.byteCount += byteCount
            return true
        }
    }

    /// Waits until bytes are admitted.
    func wait(for byteCount: Int) { while !admit(byteCount) { bell.wait() } }

    /// Admits everything from now on.
    func stop() {
        state.withLock { $0.isOver = true }
        bell.ring()
    }
}
