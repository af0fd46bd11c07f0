public import ReactorCore

/// A reactor made of closures, for tests and previews. Missing closures do nothing and keep the
/// state.
///
///     let proxy = ProxyReactor<Counter.Action, Counter.Mutation, Counter.State>(
///         initialState: Counter.State(count: 41),
///         reduce: { state, _ in state.count += 1 })
///
/// A subclass of ``ProxyBehavior`` does the same by overriding. A proxy can replace a reactor of
/// the same types: in a ``TestStore``, in a ``TestDaemon``, or as the child of another reactor.
public struct ProxyReactor<
    Action: WireCodable & Sendable, Mutation: WireCodable & Sendable,
    State: WireCodable & Sendable
>: Reactor {
    private let behavior: ProxyBehavior<Action, Mutation, State>

    /// Creates a reactor that delegates to `behavior`.
    public init(_ behavior: ProxyBehavior<Action, Mutation, State>) { self.behavior = behavior }

    /// Creates a reactor from closures.
    public init(
        initialState: State,
        mutate: ((Action, State) throws(Rejection) -> Mutations<Mutation>)? = nil,
        reduce: ((inout State, Mutation) -> Void)? = nil,
        start: ((State) -> Mutations<Mutation>)? = nil,
        error: ((any Error, Action?, State) -> Mutations<Mutation>)? = nil,
        shouldCancel: ((Action, Action) -> Bool)? = nil
    ) {
        let behavior = ClosureBehavior<Action, Mutation, State>(initialState: initialState)
        behavior.onMutate = mutate
        behavior.onReduce = reduce
        behavior.onStart = start
        behavior.onError = error
        behavior.onShouldCancel = shouldCancel
        self.behavior = behavior
    }

    public var initialState: State { behavior.initialState }

    public func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        try behavior.mutate(action: action, state: state)
    }

    public func reduce(state: inout State, mutation: Mutation) {
        behavior.reduce(state: &state, mutation: mutation)
    }

    public func start(state: State) -> Mutations<Mutation> { behavior.start(state: state) }

    public func error(
        _ error: any Error, action: Action?, state: State
    ) -> Mutations<Mutation> { behavior.error(error, action: action, state: state) }

    public func shouldCancel(
        current: Action, upcoming: Action
    ) throws(NeverCancels) -> Bool {
        try behavior.shouldCancel(current: current, upcoming: upcoming)
    }
}

private final class ClosureBehavior<
    Action: WireCodable & Sendable, Mutation: WireCodable & Sendable,
    State: WireCodable & Sendable
>: ProxyBehavior<Action, Mutation, State> {
    var onMutate: ((Action, State) throws(Rejection) -> Mutations<Mutation>)?
    var onReduce: ((inout State, Mutation) -> Void)?
    var onStart: ((State) -> Mutations<Mutation>)?
    var onError: ((any Error, Action?, State) -> Mutations<Mutation>)?
    var onShouldCancel: ((Action, Action) -> Bool)?

    override func mutate(
        action: Action, state: State
    ) throws(Rejection) -> Mutations<Mutation> {
        guard let onMutate else { return .none }
        return try onMutate(action, state)
    }

    override func reduce(state: inout State, mutation: Mutation) { onReduce?(&state, mutation) }

    override func start(state: State) -> Mutations<Mutation> { onStart?(state) ?? .none }

    override func error(
        _ error: any Error, action: Action?, state: State
    ) -> Mutations<Mutation> { onError?(error, action, state) ?? .none }

    override func shouldCancel(
        current: Action, upcoming: Action
    ) throws(NeverCancels) -> Bool {
        guard let onShouldCancel else { throw NeverCancels() }
        return onShouldCancel(current, upcoming)
    }
}
