import Glibc
import Synchronization

/// Tells the process that made it from one that was forked from it.
///
/// *Place*: whatever works by a thread of its own is of no use to a forked process, which has the
/// memory and not the thread: it asks here first, and refuses.
///
/// *Cost*: to ask is one load; `getpid` would be a system call.
public struct ForkMark: Sendable {
    private static let forkCount = Atomic<UInt64>(0)
    // because the C library calls this in every child that `fork` makes, before anything else
    private static let isCounting =
        pthread_atfork(nil, nil) { forkCount.wrappingAdd(1, ordering: .relaxed) } == 0
    private let count: UInt64

    /// Makes a mark of the calling process.
    public init() {
        precondition(Self.isCounting, "pthread_atfork found no memory")
        count = Self.forkCount.load(ordering: .relaxed)
    }

    /// Whether the calling process is the one that made it.
    public var isCurrent: Bool { Self.forkCount.load(ordering: .relaxed) == count }
}
