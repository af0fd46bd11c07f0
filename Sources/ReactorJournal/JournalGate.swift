import ReactorThreads

/// Lets one connection write at a time, and lets upkeep in at the next opportunity.
///
/// *Place*: around each transaction of the committer and of the upkeep. A mutex alone lets a thread
/// that unlocks and locks again in quick succession shut the other out: a writer without pause would
/// outrun trimming. *Owner*: any thread.
final class JournalGate: Sendable {
    private let next = Lock()
    private let inside = Lock()

    /// Commits behind upkeep that waits already.
    func commit<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        next.withLock {}
        return try inside.withLock(body)
    }

    /// Commits if nothing else is inside or waits; answers nil, and runs nothing, otherwise.
    func commitIfFree<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard next.withLockIfFree({}) != nil else { return nil }
        return try inside.withLockIfFree(body)
    }

    /// Runs upkeep behind the commit that is under way.
    func upkeep<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try next.withLock { () throws(Failure) in try inside.withLock(body) }
    }
}

/// Makes a writer wait where trimming falls behind.
///
/// *Place*: between the committer, which writes, and the upkeep, which trims. While trims are asked
/// for that are not done, the writer may write ``byteCountMax`` bytes more: so a journal never holds
/// more than it is to keep and that. *Owner*: any thread; one thread waits.
final class TrimPace: Sendable {
    private struct State {
        /// Trims that were asked for and are not done.
        var trimCount = 0
        /// Bytes that were written since the first of them was asked for.
        var byteCount = 0
        var isOver = false
    }

    private let state = Guarded(State())
    private let bell = Bell()
    /// Bytes that may be written while trims are under way.
    private let byteCountMax: Int

    init(byteCountMax: Int) { self.byteCountMax = byteCountMax }

    /// A trim is asked for.
    func begin() { state.withLock { $0.trimCount += 1 } }

    /// A trim is done, or was given up.
    func end() {
        state.withLock { state in
            state.trimCount -= 1
            if state.trimCount == 0 { state.byteCount = 0 }
        }
        bell.ring()
    }

    /// Counts bytes that are about to be written; false if they are to wait for trimming.
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

    /// Lets every writer go on, for good.
    func stop() {
        state.withLock { $0.isOver = true }
        bell.ring()
    }
}
