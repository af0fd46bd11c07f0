import ReactorCore
import ReactorThreads

/// What all mirrors of one client share: the lock, how far they are, and where their sagas live.
final class MirrorBoard: Sendable {
    /// Guards the state of every mirror, so that a reader of two sees both at one revision.
    let lock: Lock
    /// The revision that all mirrors show.
    let revision: Guarded<Revision>
    /// Tells that ``revision`` has moved.
    let moved = ChangeSignal()
    /// Raised when nobody holds one of the mirrors any more.
    let released = Flag()
    // because a saga may follow several mirrors, one lock guards the ears of all of them
    /// What sagas over the mirrors wait by and run on.
    let sagas: SagaRoom
    /// News that answers no call.
    let news = NoticeFeed()
    /// What happened to the client so far.
    let statistics = Guarded(ClientStatistics())
    /// Where numbers of nodes come back to.
    let returns = NodeReturns()
    private let wake: @Sendable () -> Void

    /// Makes a board whose client is told by `wake`, from any thread, to look at ``released``.
    init(
        _ environment: TreeEnvironment = TreeEnvironment(post: { _ in }),
        wake: @escaping @Sendable () -> Void = {}
    ) {
        lock = Lock()
        sagas = SagaRoom(environment)
        revision = Guarded(Revision(epoch: 0, sequence: 0), by: lock)
        self.wake = wake
    }

    /// Notes that nobody holds a mirror any more. *Owner*: any thread.
    func noteRelease() {
        released.raise()
        wake()
    }
}
