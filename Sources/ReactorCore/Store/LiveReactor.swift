/// A reactor at work, for the process that owns its tree: a ``Store``'s, or one of a daemon's.
///
///     static func whenOpen(_ tree: Tree) throws {
///         let tracker = try tree.reactor(Tracker.self)
///         tracker.addMiddleware(log).keep()
///         tracker.connect(orders).keep()
///     }
///
/// What is done through it passes the same commit as everybody's actions, and every mirror shows it.
/// *Owner*: the tree's isolation, which it holds; not Sendable. ``handle`` may be sent anywhere.
public class LiveReactor<R: Reactor> {
    final let tree: Tree
    @usableFromInline final let node: Node<R>

    init(_ tree: Tree, _ node: Node<R>) {
        self.tree = tree
        self.node = node
    }

    /// The reactor's state, as its ``Reactor/transform(state:)`` shows it.
    @inlinable public final var state: R.State {
        node.rules == nil ? node.state : node.presented
    }

    /// The way to the reactor from anywhere.
    public final var handle: ReactorHandle<R> {
        ReactorHandle(environment: tree.environment, number: node.number, path: "\(node.path)")
    }

    /// Applies an action, and lets nobody know where it is refused: in a daemon, before the turn at
    /// hand ends.
    public func send(_ action: R.Action) { handle.send(action) }

    /// Applies a mutation without asking anybody: `mutate` and the transforms of mutations are
    /// passed over. For the process that owns the tree, and for no client; in a daemon, before the
    /// turn at hand ends.
    public func inject(_ mutation: R.Mutation) { handle.inject(mutation) }
}

// MARK: - Who looks on, and what comes in
extension LiveReactor {
    /// Lets `middleware` look at every action, until the token goes.
    public final func addMiddleware(_ middleware: Middleware<R>) -> StoreToken {
        node.add(middleware)
    }

    /// Tells `tap` of the actions and mutations of the reactor, until the token goes.
    public final func addTap(_ tap: NodeTap<R>) -> StoreToken { tree.addTap(to: node, tap) }

    /// Dispatches what `source` yields, until the token goes; neither its end nor its failure ends
    /// anything else. It is read as fast as the actions are applied: at most
    /// ``CoreLimits/sourcedValuesMax`` of them wait, and those are dropped with the token.
    public final func connect<Source: AsyncSequence & Sendable>(_ source: Source) -> StoreToken
    where Source.Element == R.Action {
        StoreToken(handle.reading(source))
    }

    /// Runs a saga of the reactor, until it ends or is cancelled, or the reactor goes.
    ///
    ///     let handle = store.runSaga { saga in
    ///         let text = try await saga.take { if case .search(let text) = $0 { text } else { nil } }
    ///         try await saga.put(.run(text))
    ///     }
    @discardableResult
    public final func runSaga<Value: Sendable>(
        _ body: @escaping @Sendable (SagaContext<R>) async throws -> Value
    ) -> SagaHandle<Value> {
        tree.runSaga(on: node, body)
    }
}

extension Tree {
    /// The reactor of type `type` that stands at `path`, for the process that owns the tree.
    ///
    /// *Throws*: ``Rejection`` where none of that type does.
    public func reactor<R: Reactor>(
        _ type: R.Type, at path: String = "/"
    ) throws(Rejection) -> LiveReactor<R> {
        guard let place = try? SlicePath(path), let found = node(at: place) else {
            throw Rejection(.notFound, "\(path): no such node")
        }
        guard let node = found as? Node<R> else {
            throw Rejection(
                .notFound, "\(path): expected a reactor of type \(R.self), got \(found.reactorName)"
            )
        }
        return LiveReactor(self, node)
    }

    /// The reactor that properties lead to.
    ///
    /// *Throws*: ``Rejection`` where none of its type stands there.
    public func reactor<R: Reactor>(
        _ path: ReactorPath<R>
    ) throws(Rejection) -> LiveReactor<R> {
        try reactor(R.self, at: "\(path.path)")
    }
}

/// Ends what was begun on the tree's isolation when it goes.
public final class StoreToken {
    private var end: (() -> Void)?

    init(_ end: @escaping () -> Void) { self.end = end }

    deinit { end?() }

    /// Lets what was begun last as long as the tree, whatever becomes of the token.
    public func keep() { end = nil }
}
