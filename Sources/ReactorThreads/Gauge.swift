import Synchronization

/// Counts how many are inside something, on any thread. *Cost*: to ask is a plain load.
public final class Gauge: Sendable {
    private let count = Atomic<Int>(0)

    /// Makes a gauge at zero.
    public init() {}

    /// Whether somebody is inside: certainly so where the caller is.
    public var isAboveZero: Bool { count.load(ordering: .relaxed) > 0 }

    /// Counts one in.
    public func enter() { count.add(1, ordering: .relaxed) }

    /// Counts one out.
    public func leave() { count.subtract(1, ordering: .relaxed) }
}
