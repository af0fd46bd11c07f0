import ReactorCore
import ReactorThreads

/// The state that a client shares with its mirrors on any thread: their lock, their revision, and
/// the clock and executor of their sagas.
final class SharedState: Sendable {
    /// Guards the state of every mirror, so that a reader of two mirrors sees both at one revision.
    let lock: Lock
    /// The revision that all mirrors show.
    let revision: Guarded<Revision>
    /// Signals each change of ``revision``.
    let moved = ChangeSignal()
    /// Raised when the last reference to a mirror is released.
    let released = Flag()
    // One lock guards the sagas of all mirrors, since a saga may follow several.
    /// The clock and the executor of sagas over the mirrors.
    let sagas: SagaRuntime
    /// News that belong to no call.
    let news = NoticeFeed()
    /// Counters of the client's life so far.
    let statistics = Guarded(ClientStatistics())
    /// Numbers of nodes that other threads have released.
    let returns = NodeReturns()
    private let wake: @Sendable () -> Void

    /// `wake`, called on any thread, makes the client look at ``released``.
    init(
        _ environment: TreeEnvironment = TreeEnvironment(post: { _ in }),
        wake: @escaping @Sendable () -> Void = {}
    ) {
        lock = Lock()
        sagas = SagaRuntime(environment)
        revision = Guarded(Revision(epoch: 0, sequence: 0), by: lock)
        self.wake = wake
    }

    /// Records that the last reference to a mirror was released. *Owner*: any thread.
    func release() {
        released.raise()
        wake()
    }
}
