/// A base class for reactors, for authors who prefer inheritance: every rule has a default, and a
/// subclass overrides the ones it needs.
///
///     @Reactor
///     final class Counter: BaseReactor<Counter.Action, Counter.Mutation, Counter.State> {
///         enum Action { case increment(by: Int) }
///         enum Mutation { case added(Int) }
///         struct State { var count = 0 }
///
///         override func mutate(action: Action) -> Mutations<Mutation> {
///             switch action {
///             case .increment(let amount): [.added(amount)]
///             }
///         }
///
///         override func reduce(state: State, mutation: Mutation) -> State {
///             switch mutation {
///             case .added(let amount): State(count: state.count + amount)
///             }
///         }
///     }
///
/// The subclass passes the initial state to ``init(initialState:)``; where every property of
/// `State` has a default value, the macro writes an `init()` that does so. Some rules are not
/// declared here, since their types name the reactor itself or the macro may write them; a subclass
/// writes them without `override`: ``Reactor/mutate(action:state:context:)``,
/// ``Reactor/connectionEnded(_:state:context:)``, ``Reactor/middleware``,
/// ``Reactor/react(to:state:context:)``, ``Reactor/childrenChanged(_:state:context:)``,
/// ``Reactor/followerRejected(_:state:context:)``, ``Reactor/sagas``,
/// ``Reactor/sagaFailed(_:state:context:)``.
///
/// The base class does not conform to ``Reactor``, only its subclass does, so that the types are
/// known where the rules run.
open class BaseReactor<Action: Sendable, Mutation: Sendable, State: Sendable> {
    /// The state before the first mutation.
    public let initialState: State

    /// Starts from `initialState`.
    public init(initialState: State) { self.initialState = initialState }

    /// Decides what an action does. An action that is a mutation passes through, any other does
    /// nothing.
    @inlinable
    open func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        guard let mutation = action as? Mutation else { return .none }
        return Mutations(mutation)
    }

    /// Decides what an action does in a state.
    @inlinable
    open func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        try mutate(action: action)
    }

    /// Applies a fact in place.
    @inlinable
    open func reduce(state: inout State, mutation: Mutation) {
        let next: State = reduce(state: state, mutation: mutation)
        state = next
    }

    /// Applies a fact by making a new state.
    @inlinable
    open func reduce(state: State, mutation: Mutation) -> State { state }

    // MARK: Hooks

    /// Decides the reactor's first mutations and effects: see ``Reactor/start(state:context:)``.
    open func start(state: State) -> Mutations<Mutation> { .none }

    /// Decides the reaction to an effect that threw: see
    /// ``Reactor/error(_:action:state:context:)``.
    open func error(
        _ error: any Error, action: Action?, state: State
    ) -> Mutations<Mutation> { .none }

    /// Decides the reaction to an error of a child: see ``Reactor/childFailed(_:state:)``.
    open func childFailed(_ failure: ChildFailure, state: State) -> Mutations<Mutation> { .none }

    /// Whether an applied action ends the effects of an earlier one.
    open func shouldCancel(
        current: Action, upcoming: Action
    ) throws(NeverCancels) -> Bool { throw NeverCancels() }

    // MARK: Pipelines

    /// Adds stages to the pipeline of actions.
    open func transform(action: Transform<Action>) -> Transform<Action> { action }

    /// Adds stages to the pipeline of mutations.
    open func transform(mutation: Transform<Mutation>) -> Transform<Mutation> { mutation }

    /// Adds stages between the reduced state and the shown state.
    open func transform(state: Transform<State>) -> Transform<State> { state }
}
