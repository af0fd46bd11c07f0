import ReactorThreads
import ReactorWire

/// What all mirrors of one client share: the lock, and how far they are.
final class MirrorBoard: Sendable {
    /// Guards the state of every mirror, so that a reader of two sees both at one revision.
    let lock: Lock
    /// The revision that all mirrors show.
    let revision: Guarded<Revision>
    /// Tells that ``revision`` has moved.
    let moved = ChangeSignal()
    /// Raised when nobody holds one of the mirrors any more.
    let released = Flag()
    /// Where numbers of nodes come back to.
    let returns = NodeReturns()
    private let wake: @Sendable () -> Void

    /// Makes a board whose client is told by `wake`, from any thread, to look at ``released``.
    init(wake: @escaping @Sendable () -> Void = {}) {
        lock = Lock()
        revision = Guarded(Revision(epoch: 0, sequence: 0), by: lock)
        self.wake = wake
    }

    /// Notes that nobody holds a mirror any more. *Owner*: any thread.
    func noteRelease() {
        released.raise()
        wake()
    }
}
