import Synchronization

/// A request that any thread raises and one thread takes, once for all that raised it.
public final class Flag: Sendable {
    private let isRaised = Atomic<Bool>(false)

    /// Makes a flag that is not raised.
    public init() {}

    /// Whether somebody has raised it and nobody has taken it. *Cost*: a plain load.
    public var isUp: Bool { isRaised.load(ordering: .relaxed) }

    /// Raises it; what the caller wrote before is seen by who takes it.
    public func raise() {
        isRaised.store(true, ordering: .releasing)
    }

    /// Lowers it, and answers whether it was raised. *Cost*: a plain load while it is not.
    public func take() -> Bool {
        isRaised.load(ordering: .relaxed) && isRaised.exchange(false, ordering: .acquiring)
    }
}
