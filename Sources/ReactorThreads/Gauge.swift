import Synchronization

/// Counts the threads inside a section. *Cost*: a check is a plain load.
package final class Gauge: Sendable {
    private let count = Atomic<Int>(0)

    /// Makes a gauge at zero.
    package init() {}

    /// Whether a thread is inside; always correct for the calling thread.
    package var isAboveZero: Bool { count.load(ordering: .relaxed) > 0 }

    /// Increments the count.
    package func enter() { count.add(1, ordering: .relaxed) }

    /// Decrements the count.
    package func leave() { count.subtract(1, ordering: .relaxed) }
}
