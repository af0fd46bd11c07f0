import Glibc
import Synchronization

/// Distinguishes the process that made it from processes forked from it.
///
/// *Place*: an object with a thread of its own does not work in a forked process, which has its
/// memory but not its thread: it checks this mark, and refuses.
///
/// *Cost*: a check is one load; `getpid` would be a system call.
package struct ForkMark: Sendable {
    private static let forkCount = Atomic<UInt64>(0)
    // The C library calls this in every child of `fork`, before any other code.
    private static let isCounting =
        pthread_atfork(nil, nil) { forkCount.wrappingAdd(1, ordering: .relaxed) } == 0
    private let count: UInt64

    /// Makes a mark of the calling process.
    package init() {
        precondition(Self.isCounting, "pthread_atfork found no memory")
        count = Self.forkCount.load(ordering: .relaxed)
    }

    /// Whether the calling process is the one that made it.
    package var isCurrent: Bool { Self.forkCount.load(ordering: .relaxed) == count }
}
