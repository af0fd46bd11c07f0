import Glibc
import Synchronization

/// Identifies the thread inside a section that one thread at a time may enter.
///
/// *Place*: a loop enters at the beginning of a turn and leaves at its end, so that any code can
/// check whether the caller runs inside it. A check is one load: the thread inside always sees its
/// own identifier, and any other thread never does, even in a race.
package final class ThreadMark: Sendable {
    // No thread's identifier is 0, so 0 means that no thread is inside.
    private let thread = Atomic<UInt>(0)

    /// Makes a mark without a thread inside.
    package init() {}

    /// Whether the calling thread is inside.
    package var isCurrent: Bool { thread.load(ordering: .relaxed) == pthread_self() }

    /// Marks the calling thread as inside.
    package func enter() {
        thread.store(pthread_self(), ordering: .relaxed)
    }

    /// Clears the mark. *Owner*: the thread that entered.
    package func leave() {
        thread.store(0, ordering: .relaxed)
    }
}
