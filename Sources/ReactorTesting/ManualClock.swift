import ReactorThreads

/// Time that stands still until a test moves it.
///
///     let clock = ManualClock()
///     let store = Store(Search(), clock: TreeClock(clock), executor: executor)
///     clock.advance(by: .milliseconds(300)) { store.settle(executor) }
///
/// Who sleeps is woken in the order of the deadlines, and among equal ones in the order in which
/// they fell asleep; what it does then is done before the next is woken.
public final class ManualClock: Clock {
    /// A moment of a manual clock.
    public struct Instant: InstantProtocol, Sendable {
        /// Time since the clock was made.
        public var offset: Duration

        /// The moment `offset` after the clock was made.
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
        /// Numbers of those who are about to sleep and were not cancelled.
        var arriving: Set<UInt64> = []
        var sleepers: [Sleeper] = []
    }

    private let state = Guarded(State())

    /// Makes a clock that stands at zero.
    public init() {}

    public var now: Instant { state.withLock(\.now) }

    public var minimumResolution: Duration { .zero }

    /// When the next sleeper is to be woken; `nil` while nobody sleeps.
    public var nextDeadline: Instant? { state.withLock { Self.next(in: $0)?.deadline } }

    /// How many sleep.
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

// MARK: - Moving time
extension ManualClock {
    /// Lets `duration` pass; `run` is called at the beginning and whenever somebody was woken, to do
    /// what follows from that.
    public func advance(by duration: Duration, running run: () -> Void = {}) {
        advance(to: now.advanced(by: duration), running: run)
    }

    /// Lets time pass up to `end`: see ``advance(by:running:)``.
    public func advance(to end: Instant, running run: () -> Void = {}) {
        run()
        while wakeNext(upTo: end) { run() }
        state.withLock { $0.now = max($0.now, end) }
    }

    /// Moves to the deadline of the next sleeper, unless that is after `end`, and wakes it; answers
    /// whether there was one.
    public func wakeNext(upTo end: Instant) -> Bool {
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
