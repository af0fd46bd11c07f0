public import ReactorCore
import ReactorThreads

/// The world of a tree that a test turns by hand: time, effects, and what effects post.
///
/// *Place*: inside ``TestStore``, ``TestDaemon`` and ``Simulation``. *Owner*: one thread.
public final class ManualWorld {
    /// The time by which the tree's effects wait.
    public let clock = ManualClock()
    /// What the tree's effects run on.
    public let executor = ManualExecutor()
    private var inbox = Mailbox<@Sendable (Tree) -> Void>(ring: {})

    /// Makes a world whose clock stands at zero.
    public init() {}

    /// An environment for another tree in this world; what an earlier one still posts is dropped.
    public func environment() -> TreeEnvironment {
        let inbox = Mailbox<@Sendable (Tree) -> Void>(ring: {})
        self.inbox = inbox
        return TreeEnvironment(
            post: { inbox.post($0) }, spawn: TreeEnvironment.spawn(on: executor),
            clock: TreeClock(clock))
    }

    /// Lets effects run, and hands each job that they post to `perform`, until nothing but time can
    /// bring more; answers whether anything was posted.
    @discardableResult
    public func settle(_ perform: (@Sendable (Tree) -> Void) -> Void) -> Bool {
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
    /// When the next sleeper is to be woken, in nanoseconds of its clock.
    var nextDue: UInt64? { clock.nextDeadline?.nanoseconds }
}

extension ManualClock.Instant {
    /// The moment so many nanoseconds after the clock was made.
    init(nanoseconds: UInt64) {
        self.init(offset: .nanoseconds(Int64(clamping: nanoseconds)))
    }

    /// Nanoseconds since the clock was made; a part of one counts as one.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = offset.components
        let part = (attoseconds + 999_999_999) / 1_000_000_000
        return UInt64(clamping: seconds) * 1_000_000_000 + UInt64(clamping: part)
    }
}
