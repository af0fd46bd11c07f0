/// A class to inherit a reactor from, for those who like it so: each rule has a default, and a
/// subclass overrides those that it wants.
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
/// The initial state is given to ``init(initialState:)``; where every property of `State` has a
/// value, the macro writes an `init()` that does so. What is not declared here, because its type
/// names the reactor itself or the macro may write it, is written without `override`:
/// ``Reactor/mutate(action:state:context:)``, ``Reactor/connectionEnded(_:state:context:)``,
/// ``Reactor/middleware``, ``Reactor/react(to:state:)``.
///
/// This class is no ``Reactor`` itself: its subclass is, so that the types are known where the
/// rules run.
open class BaseReactor<Action: Sendable, Mutation: Sendable, State: Sendable> {
    /// The state before the first mutation.
    public let initialState: State

    /// Starts from `initialState`.
    public init(initialState: State) { self.initialState = initialState }

    /// Decides what an action does; passes it through where it is the mutation, and does nothing
    /// elsewhere.
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

    /// Decides what the reactor begins with: see ``Reactor/start(state:)``.
    open func start(state: State) -> Mutations<Mutation> { .none }

    /// Decides what follows from an effect that threw: see ``Reactor/error(_:action:state:)``.
    open func error(
        _ error: any Error, action: Action?, state: State
    ) -> Mutations<Mutation> { .none }

    /// Decides what follows from an error of a child: see ``Reactor/childFailed(_:state:)``.
    open func childFailed(_ failure: ChildFailure, state: State) -> Mutations<Mutation> { .none }

    /// Whether an action that was applied ends the effects of an earlier one.
    open func shouldCancel(
        current: Action, upcoming: Action
    ) throws(NeverCancels) -> Bool { throw NeverCancels() }

    // MARK: Pipelines

    /// Puts a pipeline in the way of actions.
    open func transform(action: Transform<Action>) -> Transform<Action> { action }

    /// Puts a pipeline in the way of mutations.
    open func transform(mutation: Transform<Mutation>) -> Transform<Mutation> { mutation }

    /// Puts a pipeline between the state that is reduced and the one that is shown.
    open func transform(state: Transform<State>) -> Transform<State> { state }
}
