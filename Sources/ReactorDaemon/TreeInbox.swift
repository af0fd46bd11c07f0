import ReactorCore
import ReactorJournal
import ReactorLoop
import ReactorThreads

/// What effects post, on its way to the loop.
///
/// Posting wakes the loop; the jobs run at the end of that turn, inside its batch.
final class TreeInbox: Sendable {
    private let mailbox: Mailbox<@Sendable (Tree) -> Void>
    // because most turns find nothing, and a look at a flag is cheaper than a lock
    private let flag = Flag()

    init(waking loop: LoopHandle) {
        mailbox = Mailbox(ring: { [flag] in
            flag.raise()
            loop.post {}
        })
    }

    /// What a tree needs of the world, for effects.
    var environment: TreeEnvironment {
        TreeEnvironment(
            post: { [mailbox] in mailbox.post($0) }, wallClock: { WallClock.milliseconds() })
    }

    func take() -> [@Sendable (Tree) -> Void] { flag.take() ? mailbox.drain() : [] }
}
