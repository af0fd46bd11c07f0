/// Applies an erased action to a state; it leaves the state unchanged for actions it does not know.
public typealias Reducer<State> = @Sendable (_ state: inout State, _ action: ErasedAction) -> Void

/// Functions that combine reducers.
public enum Reducers {
    /// Converts a reducer that returns the new state.
    public static func pure<State>(
        _ reduce: @escaping @Sendable (_ state: State, _ action: ErasedAction) -> State
    ) -> Reducer<State> {
        { state, action in state = reduce(state, action) }
    }

    /// A reducer of one type of action.
    public static func on<State, Action: WireCodable & Sendable>(
        _ type: Action.Type,
        _ reduce: @escaping @Sendable (_ state: inout State, _ action: Action) -> Void
    ) -> Reducer<State> {
        { state, action in if let action = action.as(type) { reduce(&state, action) } }
    }

    /// Combines reducers of parts of the state; each sees every action, in the order of the
    /// arguments.
    ///
    ///     Reducers.combine((\.user, user), (\.items, items))
    public static func combine<State, each Part>(
        _ parts: repeat (any WritableKeyPath<State, each Part> & Sendable, Reducer<each Part>)
    ) -> Reducer<State> {
        { state, action in
            for (path, reduce) in repeat each parts { reduce(&state[keyPath: path], action) }
        }
    }

    /// Combines reducers of one state, which run one after another.
    public static func sequence<State>(_ all: Reducer<State>...) -> Reducer<State> {
        { state, action in for reduce in all { reduce(&state, action) } }
    }
}
