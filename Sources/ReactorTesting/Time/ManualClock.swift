import ReactorThreads

/// A clock whose time changes only when a test advances it.
///
///     let clock = ManualClock()
///     let store = Store(Search(), clock: TreeClock(clock), executor: executor)
///     clock.advance(by: .milliseconds(300)) { store.settle(executor) }
///
/// Sleepers wake in the order of their deadlines, and with equal deadlines in the order in which
/// they began to sleep. With `advance`, the closure `run` does the work of each sleeper before
/// the next wakes.
public final class ManualClock: Clock {
    /// A moment of a manual clock.
    public struct Instant: InstantProtocol, Sendable {
        /// Time since the clock was created.
        public var offset: Duration

        /// The moment `offset` after the clock was created.
        public init(offset: Duration = .zero) { self.offset = offset }

        public func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        public func duration(to other: Instant) -> Duration { other.offset - offset }

        public static func < (left: Instant, right: Instant) -> Bool {
            left.offset < right.offset
        }
    }

    private struct Sleeper {
        var number: UInt64
        var deadline: Instant
        var continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant()
        var lastNumber: UInt64 = 0
        /// Numbers of tasks that are about to sleep and were not cancelled.
        var arriving: Set<UInt64> = []
        var sleepers: [Sleeper] = []
    }

    private let state = Guarded(State())

    /// Creates a clock at time zero.
    public init() {}

    public var now: Instant { state.withLock { $0.now } }

    public var minimumResolution: Duration { .zero }

    /// The deadline of the next sleeper; `nil` if no task sleeps.
    public var nextDeadline: Instant? { state.withLock { Self.next(in: $0)?.deadline } }

    /// Number of sleeping tasks.
    public var sleeperCount: Int { state.withLock(\.sleepers.count) }

    private static func next(in state: State) -> Sleeper? {
        state.sleepers.min { ($0.deadline, $0.number) < ($1.deadline, $1.number) }
    }
}

// MARK: - Sleeping
extension ManualClock {
    public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        let number = state.withLock { state in
            state.lastNumber += 1
            state.arriving.insert(state.lastNumber)
            return state.lastNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                lieDown(Sleeper(number: number, deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func lieDown(_ sleeper: Sleeper) {
        let refusal: Result<Void, any Error>? = state.withLock { state in
            guard state.arriving.remove(sleeper.number) != nil else {
                return .failure(CancellationError())
            }
            if sleeper.deadline <= state.now { return .success(()) }
            state.sleepers.append(sleeper)
            return nil
        }
        if let refusal { sleeper.continuation.resume(with: refusal) }
    }

    private func cancel(_ number: UInt64) {
        let sleeper = state.withLock { state -> Sleeper? in
            state.arriving.remove(number)
            guard let index = state.sleepers.firstIndex(where: { $0.number == number }) else {
                return nil
            }
            return state.sleepers.remove(at: index)
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}

// MARK: - Advancing the time
extension ManualClock {
    /// Advances the time by `duration`. Calls `run` at the beginning and after each wake-up, to
    /// do the work that has become possible.
    public func advance(by duration: Duration, running run: () -> Void = {}) {
        advance(to: now.advanced(by: duration), running: run)
    }

    /// Advances the time to `end`: see ``advance(by:running:)``.
    public func advance(to end: Instant, running run: () -> Void = {}) {
        run()
        while wakeNext(upTo: end) { run() }
        state.withLock { $0.now = max($0.now, end) }
    }

    /// Advances to the deadline of the next sleeper, unless it is after `end`, and wakes the
    /// sleeper; returns whether there was one.
    package func wakeNext(upTo end: Instant) -> Bool {
        let sleeper = state.withLock { state -> Sleeper? in
            guard let next = Self.next(in: state), next.deadline <= end else { return nil }
            state.now = max(state.now, next.deadline)
            state.sleepers.removeAll { $0.number == next.number }
            return next
        }
        sleeper?.continuation.resume()
        return sleeper != nil
    }
}
