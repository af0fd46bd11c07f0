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

    init() {
        lock = Lock()
        revision = Guarded(Revision(epoch: 0, sequence: 0), by: lock)
    }
}
