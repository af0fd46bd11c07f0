/// Thrown by a reactor that has no ``Reactor/shouldCancel(current:upcoming:)`` of its own: none of
/// its actions ends an effect.
public struct NeverCancels: Error, Equatable {
    /// Makes the error.
    public init() {}
}

/// Thrown by the default ``Reactor/sagaFailed(_:state:)``: the reactor treats the failure of a saga
/// like any other error.
public struct NoReaction: Error, Equatable {
    /// Makes the error.
    public init() {}
}
