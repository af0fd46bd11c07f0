public import ReactorCore

/// A number that clients count up and down.
///
/// Rejections: `overflow` if the count would exceed 64 bits.
@Reactor
public struct Counter {
    /// A counter that starts at 0.
    public init() {}

    /// The actions of a counter.
    public enum Action: Equatable, Sendable {
        /// Adds `by`.
        case increment(by: Int64 = 1)
        /// Subtracts `by`.
        case decrement(by: Int64 = 1)
        /// Sets the count to zero.
        case reset
    }

    /// The mutations of a counter.
    public enum Mutation: Equatable, Sendable {
        /// The count changed by this much.
        case added(Int64)
        /// The count became zero.
        case cleared
    }

    /// The state of a counter.
    public struct State: Equatable, Sendable {
        /// The current count.
        public var count: Int64 = 0

        /// Makes a count of 0.
        public init() {}

        /// Makes a count.
        public init(count: Int64) { self.count = count }
    }

    public func mutate(
        action: Action, state: State
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .increment(let amount):
            guard !state.count.addingReportingOverflow(amount).overflow else {
                throw overflow("adding \(amount)", to: state)
            }
            return Mutations(.added(amount))
        case .decrement(let amount):
            let (change, isTooLarge) = Int64(0).subtractingReportingOverflow(amount)
            guard !isTooLarge, !state.count.addingReportingOverflow(change).overflow else {
                throw overflow("subtracting \(amount)", to: state)
            }
            return Mutations(.added(change))
        case .reset:
            return Mutations(.cleared)
        }
    }

    public func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        // Wraps instead of trapping, in case a replica receives wrong data; `mutate` has checked
        // the sum.
        case .added(let amount): state.count &+= amount
        case .cleared: state.count = 0
        }
    }

    private func overflow(_ what: String, to state: State) -> Rejection {
        Rejection(
            "overflow", "\(what) to \(state.count) leaves the range \(Int64.min) to \(Int64.max)")
    }
}
