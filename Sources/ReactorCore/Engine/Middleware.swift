/// Observes every action of a reactor after its reduce, and may dispatch further actions.
///
///     static let log = Middleware<Shop> { state, action, dispatch in
///         print(action, state().total)
///     }
///
/// It runs in the action's transaction, after the reduce and before the commit. Actions that it
/// dispatches are followers: separate transactions, right after this one. It sees the state
/// that the action led to, and misses no change.
///
/// A value of this type is a recipe: each reactor that it is added to gets its own timers and
/// windows. Releasing its token removes it: actions waiting in a ``debounce(_:)`` or a
/// ``delay(_:)`` are dropped, and so are later dispatches.
public struct Middleware<R: Reactor> {
    /// Reads the state at the time of the call.
    public typealias GetState = () -> R.State
    /// Dispatches an action. Called while the middleware runs, it adds a follower of the observed
    /// action; called later, from any task or thread, it starts a separate transaction.
    public typealias Dispatch = @Sendable (R.Action) -> Void

    /// The function that runs for each action.
    typealias Body = (MiddlewareCall<R>) -> Void

    /// Makes the function for one reactor; it may hold timers and windows.
    let install: (MiddlewareLife) -> Body

    /// Makes middleware of a function.
    public init(
        _ body:
            @escaping (
                _ getState: GetState, _ action: R.Action, _ dispatch: @escaping Dispatch
            ) -> Void
    ) {
        self.init(call: { call in
            call.reading { getState in body(getState, call.action, call.dispatch) }
        })
    }

    init(call body: @escaping Body) { self.init(install: { _ in body }) }

    init(install: @escaping (MiddlewareLife) -> Body) { self.install = install }
}

// MARK: - Combining middleware
extension Middleware {
    /// Runs all of these, in order.
    public static func combine(_ all: [Middleware]) -> Middleware {
        Middleware(install: { life in
            let bodies = all.map { $0.install(life) }
            return { call in for body in bodies { body(call) } }
        })
    }

    /// Runs all of these, in order.
    public static func combine(_ all: Middleware...) -> Middleware { combine(all) }

    /// Runs for the actions for which `isWanted` is true.
    public func filter(_ isWanted: @escaping (R.Action) -> Bool) -> Middleware {
        Middleware(install: { life in
            let body = install(life)
            return { call in if isWanted(call.action) { body(call) } }
        })
    }

    /// Runs `body` with a part of the state and the result of `extract`, for actions where that is
    /// not `nil`.
    public static func map<Part, Payload>(
        _ part: KeyPath<R.State, Part>,
        _ extract: @escaping (R.Action) -> Payload?,
        _ body:
            @escaping (
                _ getPart: () -> Part, _ payload: Payload, _ dispatch: @escaping Dispatch
            ) -> Void
    ) -> Middleware {
        Middleware(call: { call in
            guard let payload = extract(call.action) else { return }
            call.reading { getState in
                body({ getState()[keyPath: part] }, payload, call.dispatch)
            }
        })
    }

    /// Runs `body` with a part of the state.
    public static func map<Part>(
        _ part: KeyPath<R.State, Part>,
        _ body:
            @escaping (
                _ getPart: () -> Part, _ action: R.Action, _ dispatch: @escaping Dispatch
            ) -> Void
    ) -> Middleware {
        map(part, { $0 }, body)
    }
}
