/// Ends an observation or an input when it is released; for the tree's isolation.
public final class StoreToken {
    private var end: (() -> Void)?

    init(_ end: @escaping () -> Void) { self.end = end }

    deinit { end?() }

    /// Makes the observation or input last as long as its reactor; releasing the token has no effect
    /// then.
    public func keep() { end = nil }
}
