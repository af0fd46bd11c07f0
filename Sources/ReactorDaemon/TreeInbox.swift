import ReactorCore
import ReactorJournal
import ReactorLoop
import ReactorThreads

/// Carries jobs that effects post from any thread to the loop's thread.
///
/// Posting wakes the loop; the jobs run at the end of that turn and become part of its batch.
final class TreeInbox: Sendable {
    private let mailbox: Mailbox<@Sendable (Tree) -> Void>
    // Most turns find no jobs, and testing a flag is cheaper than taking a lock.
    private let flag = Flag()

    init(waking loop: LoopHandle) {
        mailbox = Mailbox(ring: { [flag] in
            flag.raise()
            loop.post {}
        })
    }

    /// The tree's environment: posts jobs to this inbox and reads the wall clock.
    var environment: TreeEnvironment {
        TreeEnvironment(
            post: { [mailbox] in mailbox.post($0) }, wallClock: { WallClock.milliseconds() })
    }

    func take() -> [@Sendable (Tree) -> Void] { flag.take() ? mailbox.drain() : [] }
}
