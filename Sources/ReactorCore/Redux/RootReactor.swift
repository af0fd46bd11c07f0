/// One state with one reducer, and actions of any type: a root store in the manner of Redux.
///
///     let store = Store(RootReactor(AppState()) { state, action in
///         if let add = action.as(AddItem.self) { state.items.append(add.name) }
///     })
///     try store.dispatch(ErasedAction(AddItem(name: "milk")))
///
/// It is a reactor like any other: a daemon can mount it, and clients that have its reducer can
/// mirror it.
///
///     let app = try await client.mirror(RootReactor(AppState(), reducer: appReducer), at: "/")
///     _ = await app.dispatch(AddItem(name: "milk"))
public struct RootReactor<State: WireCodable & Sendable>: Reactor {
    public typealias Action = ErasedAction
    public typealias Mutation = ErasedAction

    public let initialState: State
    public let middleware: [Middleware<RootReactor>]
    private let reducer: Reducer<State>

    /// Makes the reactor; `reducer` is called for every action.
    public init(
        _ initialState: State, middleware: [Middleware<RootReactor>] = [],
        reducer: @escaping Reducer<State>
    ) {
        self.initialState = initialState
        self.middleware = middleware
        self.reducer = reducer
    }

    public func reduce(state: inout State, mutation: ErasedAction) { reducer(&state, mutation) }
}

extension Store {
    /// Applies an action of any type before it returns: see ``ErasedAction``.
    public func dispatch<State>(_ action: some WireCodable & Sendable) throws(Rejection)
    where R == RootReactor<State> {
        try dispatch(ErasedAction(action))
    }
}

// MARK: - Actions of one type
extension Middleware {
    /// Runs for the actions of one type that a root reactor receives.
    ///
    ///     Middleware<RootReactor<AppState>>.on(LogIn.self) { state, logIn, dispatch in
    ///         dispatch(ErasedAction(Greet(name: logIn.user)))
    ///     }
    public static func on<State, Action: WireCodable & Sendable>(
        _ type: Action.Type,
        _ body:
            @escaping (
                _ getState: GetState, _ action: Action, _ dispatch: @escaping Dispatch
            ) -> Void
    ) -> Middleware where R == RootReactor<State> {
        Middleware(call: { call in
            guard let action = call.action.as(type) else { return }
            call.reading { getState in body(getState, action, call.dispatch) }
        })
    }

    /// Runs for the actions of one type that a root reactor receives. A later ``debounce(_:)``,
    /// ``throttle(_:)``, ``delay(_:)`` or ``takeLatest()`` considers only that type.
    public func filter<State, Action: WireCodable & Sendable>(
        _ type: Action.Type
    ) -> Middleware where R == RootReactor<State> {
        filter { $0.as(type) != nil }
    }
}
