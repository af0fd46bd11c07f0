/// Thrown by a reactor that has no ``Reactor/shouldCancel(current:upcoming:)`` of its own: none of
/// its actions ends an effect.
public struct NeverCancels: Error, Equatable {
    /// Makes the error.
    public init() {}
}

/// Thrown by a reactor that has no ``Reactor/sagaFailed(_:state:)`` of its own: the failure of a
/// saga is an error like another.
public struct NoReaction: Error, Equatable {
    /// Makes the error.
    public init() {}
}
