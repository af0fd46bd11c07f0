/// The answer of a reactor that does not care which effects an action ends: it has no
/// ``Reactor/shouldCancel(current:upcoming:)`` of its own.
public struct NeverCancels: Error, Equatable {
    /// The answer.
    public init() {}
}
