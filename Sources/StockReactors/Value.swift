public import ReactorCore

/// One value of any shape, set by the last writer.
///
/// Rejects nothing.
@Reactor
public struct Value {
    /// Makes an empty value.
    public init() {}

    /// The actions of a value, which are also its mutations.
    public enum Action: Equatable, Sendable {
        /// Replaces the value.
        case set(value: WireValue)
        /// Sets the value to null.
        case clear
    }

    /// The state of a value.
    public struct State: Equatable, Sendable {
        /// The last value set; null at first.
        public var value: WireValue = .null

        /// Makes a state with the value null.
        public init() {}

        /// Makes a state with a value.
        public init(value: WireValue) { self.value = value }
    }

    public func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .set(let value): state.value = value
        case .clear: state.value = .null
        }
    }
}
