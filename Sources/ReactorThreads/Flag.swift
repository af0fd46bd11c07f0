import Synchronization

/// A request that any thread raises and one thread takes; several raises count as one.
package final class Flag: Sendable {
    private let isRaised = Atomic<Bool>(false)

    /// Makes a flag that is not raised.
    package init() {}

    /// Whether the flag is raised and has not been taken. *Cost*: a plain load.
    package var isUp: Bool { isRaised.load(ordering: .relaxed) }

    /// Raises the flag; the thread that takes it sees the caller's earlier writes.
    package func raise() {
        isRaised.store(true, ordering: .releasing)
    }

    /// Lowers the flag. Returns whether it was raised. *Cost*: a plain load while it is not.
    package func take() -> Bool {
        isRaised.load(ordering: .relaxed) && isRaised.exchange(false, ordering: .acquiring)
    }
}
