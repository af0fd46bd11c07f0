public import ReactorWire

/// The type of a part that a reactor does not declare.
///
/// `@Reactor` reports a missing `State` or `Action` and generates a function with this type in its
/// place. So the reactor conforms, and the compiler reports nothing in addition. A type in an
/// extension takes precedence.
@WireCodable
public struct _MissingPart: Hashable, Sendable {
    /// Makes the only value.
    public init() {}
}
