/// The time of a tree: real, or a test's.
///
/// Whatever waits inside a reactor (an effect, a saga, middleware) waits by this clock, so that a
/// test or a simulation decides how time goes.
public struct TreeClock: Sendable {
    private let wait: @Sendable (Duration) async throws -> Void
    private let elapsed: @Sendable () -> Duration

    /// Takes the time of `clock`, counted from now.
    public init<Source: Clock>(_ clock: Source) where Source.Duration == Duration {
        let start = clock.now
        wait = { duration in
            try await clock.sleep(
                until: clock.now.advanced(by: duration), tolerance: nil)
        }
        elapsed = { start.duration(to: clock.now) }
    }

    /// Time since the clock was taken.
    public var now: Duration { elapsed() }

    /// Waits.
    ///
    /// *Throws*: `CancellationError` if the task is cancelled.
    public func sleep(for duration: Duration) async throws { try await wait(duration) }

    /// Waits until ``now`` is `time`; not at all where it has passed.
    public func sleep(until time: Duration) async throws {
        let left = time - now
        if left > .zero { try await wait(left) } else { try Task.checkCancellation() }
    }

    /// The time that passes in the world, while the machine sleeps too.
    public static var continuous: TreeClock { TreeClock(ContinuousClock()) }
}
