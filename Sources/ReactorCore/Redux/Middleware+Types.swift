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
