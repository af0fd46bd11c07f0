package import ReactorCore
import ReactorThreads

/// The environment of a tree under a test's control: time, effects, and the jobs that effects
/// post.
///
/// *Place*: inside ``TestStore``, ``TestDaemon`` and ``Simulation``. *Owner*: one thread.
public final class ManualWorld {
    /// The clock that the tree's effects use.
    public let clock = ManualClock()
    /// The executor that runs the tree's effects.
    public let executor = ManualExecutor()
    private let random: TreeRandom
    private var inbox = Mailbox<@Sendable (Tree) -> Void>(ring: {})

    /// Creates a world at time zero, with the random numbers of `seed`.
    public init(seed: UInt64 = 0) { random = TreeRandom(SeededRandom(seed: seed)) }

    /// Returns an environment for another tree in this world. Jobs posted to an earlier
    /// environment are dropped.
    package func environment() -> TreeEnvironment {
        let inbox = Mailbox<@Sendable (Tree) -> Void>(ring: {})
        self.inbox = inbox
        // Plans of a history keep their times: a later tree does not count from its own start.
        let clock = clock
        return TreeEnvironment(
            post: { inbox.post($0) }, spawn: TreeEnvironment.spawn(on: executor),
            clock: TreeClock(clock),
            wallClock: { Int64(clamping: clock.now.nanoseconds / 1_000_000) }, random: random)
    }

    /// Whether no effect can run, and no job waits.
    package var isIdle: Bool { executor.isIdle && inbox.isEmpty }

    /// Runs effects and passes each job that they post to `perform`, until only the passing of
    /// time can bring more. Returns whether a job was posted.
    @discardableResult
    package func settle(_ perform: (@Sendable (Tree) -> Void) -> Void) -> Bool {
        var isBusy = false
        while true {
            executor.run()
            let jobs = inbox.drain()
            if jobs.isEmpty { return isBusy }
            isBusy = true
            for job in jobs { perform(job) }
        }
    }
}

extension ManualWorld {
    /// The deadline of the next sleeper, in nanoseconds of the clock.
    var nextDue: UInt64? { clock.nextDeadline?.nanoseconds }
}

extension ManualClock.Instant {
    /// The moment this many nanoseconds after the clock was created.
    init(nanoseconds: UInt64) {
        self.init(offset: .nanoseconds(Int64(clamping: nanoseconds)))
    }

    /// Nanoseconds since the clock was created, rounded up.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = offset.components
        let part = (attoseconds + 999_999_999) / 1_000_000_000
        return UInt64(clamping: seconds) * 1_000_000_000 + UInt64(clamping: part)
    }
}
