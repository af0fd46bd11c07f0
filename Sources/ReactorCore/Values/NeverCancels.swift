/// Thrown by a reactor that has no ``Reactor/shouldCancel(current:upcoming:)`` of its own: none of
/// its actions ends an effect.
public struct NeverCancels: Error, Equatable {
    /// Makes the error.
    public init() {}
}
