/// The clock of a tree: real, or controlled by a test.
///
/// Effects, sagas and middleware all wait by this clock, so that a test or a simulation controls
/// the time.
public struct TreeClock: Sendable {
    private let wait: @Sendable (Duration) async throws -> Void
    private let elapsed: @Sendable () -> Duration

    /// Follows `clock`, counted from now.
    public init<Source: Clock>(_ clock: Source) where Source.Duration == Duration {
        let start = clock.now
        wait = { duration in
            try await clock.sleep(
                until: clock.now.advanced(by: duration), tolerance: nil)
        }
        elapsed = { start.duration(to: clock.now) }
    }

    /// Time since the clock was created.
    public var now: Duration { elapsed() }

    /// Waits.
    ///
    /// *Throws*: `CancellationError` if the task is cancelled.
    public func sleep(for duration: Duration) async throws { try await wait(duration) }

    /// Waits until ``now`` is `time`; returns at once if it has passed.
    public func sleep(until time: Duration) async throws {
        let left = time - now
        if left > .zero { try await wait(left) } else { try Task.checkCancellation() }
    }

    /// A clock that continues while the machine sleeps.
    public static var continuous: TreeClock { TreeClock(ContinuousClock()) }
}
