import Glibc
import Synchronization

/// Which thread is inside something that one thread at a time may enter.
///
/// *Place*: a loop enters at the beginning of a turn and leaves at its end, so that anybody can ask
/// whether the caller runs inside it. Asking is one load: a thread that is inside always sees
/// itself, any other sees that it is not the one, whatever it races with.
public final class ThreadMark: Sendable {
    // because no thread's identifier is 0, 0 says that nobody is inside
    private let thread = Atomic<UInt>(0)

    /// Makes a mark that nobody has entered.
    public init() {}

    /// Whether the calling thread is inside.
    public var isCurrent: Bool { thread.load(ordering: .relaxed) == pthread_self() }

    /// Marks the calling thread as inside.
    public func enter() {
        thread.store(pthread_self(), ordering: .relaxed)
    }

    /// Marks nobody as inside. *Owner*: the thread that entered.
    public func leave() {
        thread.store(0, ordering: .relaxed)
    }
}
