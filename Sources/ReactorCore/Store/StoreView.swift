/// A part of a store's state: observers receive changes of that part only, actions go to the whole.
///
/// *Owner*: the isolation of its store, which it holds.
public final class StoreView<R: Reactor, Part: Equatable> {
    private let store: Store<R>
    private let part: KeyPath<R.State, Part>

    init(_ store: Store<R>, _ part: KeyPath<R.State, Part>) {
        self.store = store
        self.part = part
    }

    /// The current value of the part.
    public var state: Part { store.state[keyPath: part] }

    /// Applies an action of the store's reactor.
    public func dispatch(_ action: R.Action) throws(Rejection) { try store.dispatch(action) }

    /// Applies an action and ignores its rejection.
    public func send(_ action: R.Action) { store.send(action) }

    /// Dispatches the elements of `source`, until the token is released.
    public func connect<Source: AsyncSequence & Sendable>(_ source: Source) -> StoreToken
    where Source.Element == R.Action {
        store.connect(source)
    }

    /// Calls `observer` with the part now and whenever it differs, until the token is released.
    public func observe(_ observer: @escaping (Part) -> Void) -> StoreToken {
        var shown: Part?
        return store.observe { [part] state in
            let now = state[keyPath: part]
            guard now != shown else { return }
            shown = now
            observer(now)
        }
    }

    /// Calls `body` for every action, with this part of the state, until the token is released.
    public func addMiddleware(
        _ body:
            @escaping (
                _ getPart: () -> Part, _ action: R.Action,
                _ dispatch: @escaping Middleware<R>.Dispatch
            ) -> Void
    ) -> StoreToken {
        store.addMiddleware(.map(part, body))
    }

    /// A part of this part.
    public func scoped<Smaller: Equatable>(
        to smaller: KeyPath<Part, Smaller>
    ) -> StoreView<R, Smaller> {
        StoreView<R, Smaller>(store, part.appending(path: smaller))
    }
}
