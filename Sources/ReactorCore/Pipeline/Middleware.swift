/// Something that looks at every action of a reactor when its reduce is done, and may dispatch more.
///
///     static let log = Middleware<Shop> { state, action, dispatch in
///         print(action, state().total)
///     }
///
/// It runs in the action's transaction, after the reduce and before the commit; what it dispatches
/// are followers: transactions of their own, right behind. So no change is ever lost to it, and it
/// sees the state that the action led to.
///
/// A value of this type is a recipe: each reactor that it is added to has timers and windows of its
/// own. When its token goes, it runs no more: what waits in a ``debounce(_:)`` or a ``delay(_:)`` is
/// dropped, and so is what it dispatches later.
public struct Middleware<R: Reactor> {
    /// Reads the state as it is when it is called.
    public typealias GetState = () -> R.State
    /// Dispatches an action: called by the middleware itself, a follower of the action that it looks
    /// at; called later, from any task or thread, a transaction of its own.
    public typealias Dispatch = @Sendable (R.Action) -> Void

    /// What is called for each action.
    typealias Body = (MiddlewareCall<R>) -> Void

    /// Makes the function for one reactor, which may hold timers and windows.
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

// MARK: - Putting middleware together
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

    /// Runs for the actions that `isWanted` says.
    public func filter(_ isWanted: @escaping (R.Action) -> Bool) -> Middleware {
        Middleware(install: { life in
            let body = install(life)
            return { call in if isWanted(call.action) { body(call) } }
        })
    }

    /// Runs `body` with what `extract` takes out of an action, where it takes something, and with a
    /// part of the state.
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
