public import ReactorCore

/// What a ``ProxyReactor`` does, for those who like to override methods: each does nothing, or
/// keeps the state, unless a subclass says otherwise.
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

    /// Begins with `initialState`.
    public init(initialState: State) { self.initialState = initialState }

    /// Decides what an action does: nothing.
    open func mutate(
        action: Action, state: State
    ) throws(Rejection) -> Mutations<Mutation> { .none }

    /// Applies a mutation: the state stays as it is.
    open func reduce(state: inout State, mutation: Mutation) {}

    /// Decides what the reactor begins with: nothing.
    open func start(state: State) -> Mutations<Mutation> { .none }

    /// Decides what follows from an effect that threw: nothing.
    open func error(
        _ error: any Error, action: Action?, state: State
    ) -> Mutations<Mutation> { .none }

    /// Whether an action ends the effects of an earlier one: no.
    open func shouldCancel(
        current: Action, upcoming: Action
    ) throws(NeverCancels) -> Bool { throw NeverCancels() }
}
