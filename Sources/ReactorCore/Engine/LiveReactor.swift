import ReactorThreads

/// A running reactor, for the process that owns its tree: one of a ``Store``, or of a daemon.
///
///     static func whenOpen(_ tree: Tree) throws {
///         let tracker = try tree.reactor(Tracker.self)
///         tracker.addMiddleware(log).keep()
///         tracker.connect(orders).keep()
///     }
///
/// Changes made through it are committed like those of clients, and every mirror shows them.
/// *Owner*: the tree's isolation, which it holds; not Sendable. ``handle`` can be sent to any
/// thread.
public class LiveReactor<R: Reactor> {
    final let tree: Tree
    @usableFromInline final let node: Node<R>

    init(_ tree: Tree, _ node: Node<R>) {
        self.tree = tree
        self.node = node
    }

    /// The reactor's state, after ``Reactor/transform(state:)``.
    @inlinable public final var state: R.State {
        node.rules == nil ? node.state : node.presented
    }

    /// A handle to the reactor for any thread.
    public final var handle: ReactorHandle<R> {
        ReactorHandle(environment: tree.environment, number: node.number, path: "\(node.path)")
    }

    /// Applies an action and ignores its rejection; in a daemon, before the current turn ends.
    public func send(_ action: R.Action) { handle.send(action) }

    /// Applies a mutation without calling `mutate` and the transforms of mutations. Only the
    /// process that owns the tree can do this, no client. In a daemon, it happens before the
    /// current turn ends.
    public func inject(_ mutation: R.Mutation) { handle.inject(mutation) }
}

// MARK: - Observers and inputs
extension LiveReactor {
    /// Adds `middleware`, which observes every action; releasing the token removes it.
    public final func addMiddleware(_ middleware: Middleware<R>) -> StoreToken {
        node.add(middleware)
    }

    /// Adds `tap`, which observes actions and mutations; releasing the token removes it.
    public final func addTap(_ tap: NodeTap<R>) -> StoreToken { tree.addTap(to: node, tap) }

    /// Dispatches the elements of `source`, until the token is released or the reactor is gone; the
    /// end or failure of the source ends nothing else. It is read as fast as the actions are
    /// applied: at most ``CoreLimits/sourcedValuesMax`` of them wait, and are dropped when the token
    /// is released.
    public final func connect<Source: AsyncSequence & Sendable>(_ source: Source) -> StoreToken
    where Source.Element == R.Action {
        StoreToken(handle.reading(source))
    }
}

/// An observer of one reactor inside its tree, such as a saga or a log.
///
/// The tree calls its functions on its isolation, in the order of the transactions; `action` and
/// `mutation` after the commit.
public struct NodeTap<R: Reactor> {
    /// Called before an action is decided; may reject it.
    var admit: ((R.Action) throws(Rejection) -> Void)?
    /// Called if an admitted action is refused later.
    var withdraw: ((R.Action) -> Void)?
    /// Called for an applied action.
    var action: ((R.Action, Origin) -> Void)?
    /// Called for an applied mutation, whatever caused it.
    var mutation: ((R.Mutation, Origin) -> Void)?

    /// Makes an observer of committed actions and mutations.
    public init(
        action: ((R.Action, Origin) -> Void)? = nil,
        mutation: ((R.Mutation, Origin) -> Void)? = nil
    ) {
        self.action = action
        self.mutation = mutation
    }

    /// This tap, whose functions for committed actions and mutations do nothing once `isOver` is
    /// raised.
    func silent(after isOver: Flag) -> NodeTap {
        var tap = self
        tap.action = action.map { action in
            { if !isOver.isUp { action($0, $1) } }
        }
        tap.mutation = mutation.map { mutation in
            { if !isOver.isUp { mutation($0, $1) } }
        }
        return tap
    }
}
