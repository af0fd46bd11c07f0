/// Changes a state as an erased action says; actions that it does not know leave it as it is.
public typealias Reducer<State> = @Sendable (_ state: inout State, _ action: ErasedAction) -> Void

/// Ways to put reducers together.
public enum Reducers {
    /// A reducer that gives back the new state, in the form that changes it in place.
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

    /// Makes one reducer of several, each of a part of the state; each sees every action, in the
    /// order in which they stand here.
    ///
    ///     Reducers.combine((\.user, user), (\.items, items))
    public static func combine<State, each Part>(
        _ parts: repeat (any WritableKeyPath<State, each Part> & Sendable, Reducer<each Part>)
    ) -> Reducer<State> {
        { state, action in
            for (path, reduce) in repeat each parts { reduce(&state[keyPath: path], action) }
        }
    }

    /// Runs several reducers of one state, one after another.
    public static func sequence<State>(_ all: Reducer<State>...) -> Reducer<State> {
        { state, action in for reduce in all { reduce(&state, action) } }
    }
}
