import Synchronization

/// A clock that stands still until a test lets all sleepers continue.
final class StillClock: Clock {
    typealias Instant = ContinuousClock.Instant

    private let state = Mutex<(isOver: Bool, sleepers: [AsyncStream<Void>.Continuation])>(
        (false, []))

    let now = ContinuousClock.now
    let minimumResolution = Duration.zero

    /// Number of sleepers up to ``run()``.
    var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let (end, sleeper) = AsyncStream<Void>.makeStream()
        let isOver = state.withLock { state in
            if !state.isOver { state.sleepers.append(sleeper) }
            return state.isOver
        }
        if !isOver { for await _ in end {} }
        try Task.checkCancellation()
    }

    /// Wakes all sleepers, and every later one immediately.
    func run() {
        let sleepers = state.withLock { state in
            state.isOver = true
            return state.sleepers
        }
        for sleeper in sleepers { sleeper.finish() }
    }
}
