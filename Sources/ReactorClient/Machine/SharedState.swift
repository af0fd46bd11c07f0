import ReactorCore
import ReactorThreads

/// What a client shares with its mirrors on any thread: their lock, their revision, and where their
/// sagas run.
final class SharedState: Sendable {
    /// Guards the state of every mirror, so that a reader of two sees both at one revision.
    let lock: Lock
    /// The revision that all mirrors show.
    let revision: Guarded<Revision>
    /// Tells that ``revision`` has moved.
    let moved = ChangeSignal()
    /// Raised when the last reference to a mirror is gone.
    let released = Flag()
    // One lock guards the sagas of all mirrors, since a saga may follow several.
    /// What sagas over the mirrors wait by and run on.
    let sagas: SagaRoom
    /// News that answers no call.
    let news = NoticeFeed()
    /// What happened to the client so far.
    let statistics = Guarded(ClientStatistics())
    /// Numbers of nodes that other threads have let go.
    let returns = NodeReturns()
    private let wake: @Sendable () -> Void

    /// Makes the state of a client that `wake` has look at ``released``, from any thread.
    init(
        _ environment: TreeEnvironment = TreeEnvironment(post: { _ in }),
        wake: @escaping @Sendable () -> Void = {}
    ) {
        lock = Lock()
        sagas = SagaRoom(environment)
        revision = Guarded(Revision(epoch: 0, sequence: 0), by: lock)
        self.wake = wake
    }

    /// The last reference to a mirror is gone. *Owner*: any thread.
    func release() {
        released.raise()
        wake()
    }
}
