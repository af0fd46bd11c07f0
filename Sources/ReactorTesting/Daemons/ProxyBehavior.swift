public import ReactorCore

/// The behavior of a ``ProxyReactor``, for overriding. By default, the methods do nothing and
/// keep the state.
///
///     final class Refusing: ProxyBehavior<Counter.Action, Counter.Mutation, Counter.State> {
///         override func mutate(
///             action: Counter.Action, state: Counter.State
///         ) throws(Rejection) -> Mutations<Counter.Mutation> {
///             throw Rejection("closed", "come back tomorrow")
///         }
///     }
///     let store = TestStore(ProxyReactor(Refusing(initialState: Counter.State())))
open class ProxyBehavior<
    Action: WireCodable & Sendable, Mutation: WireCodable & Sendable,
    State: WireCodable & Sendable
> {
    /// The state before the first mutation.
    public let initialState: State

    /// Creates a behavior that begins with `initialState`.
    public init(initialState: State) { self.initialState = initialState }

    /// Decides the mutations of an action; by default none.
    open func mutate(
        action: Action, state: State
    ) throws(Rejection) -> Mutations<Mutation> { .none }

    /// Applies a mutation; by default the state stays unchanged.
    open func reduce(state: inout State, mutation: Mutation) {}

    /// Decides the mutations at the start; by default none.
    open func start(state: State) -> Mutations<Mutation> { .none }

    /// Decides the mutations after an effect threw; by default none.
    open func error(
        _ error: any Error, action: Action?, state: State
    ) -> Mutations<Mutation> { .none }

    /// Decides whether an action cancels the effects of an earlier one; by default it does not.
    open func shouldCancel(
        current: Action, upcoming: Action
    ) throws(NeverCancels) -> Bool { throw NeverCancels() }
}
