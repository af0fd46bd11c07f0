public import ReactorCore

/// One value of any shape, that the last writer set.
///
/// Rejects nothing.
@Reactor
public struct Value {
    /// A place for a value, empty at first.
    public init() {}

    /// What a client may ask of a value; it is applied as it was asked.
    public enum Action: Equatable, Sendable {
        /// Replaces the value.
        case set(value: WireValue)
        /// Sets the value to null.
        case clear
    }

    /// The state of a value.
    public struct State: Equatable, Sendable {
        /// What was set last; null at first.
        public var value: WireValue = .null

        /// No value: `null`.
        public init() {}

        /// A value.
        public init(value: WireValue) { self.value = value }
    }

    public func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .set(let value): state.value = value
        case .clear: state.value = .null
        }
    }
}
