/// The transforms, middleware and taps of a node.
///
/// A node without any of them has no rules, and its actions take the fast path. *Owner*: the tree's
/// isolation.
@usableFromInline
final class NodeRules<R: Reactor> {
    /// The reactor's transforms, if they change anything.
    var actions: TransformRun<R.Action>?
    var mutations: TransformRun<R.Mutation>?
    var states: TransformRun<R.State>?
    /// The last output of `states`.
    var presented: R.State?
    var middleware = TokenList<InstalledMiddleware<R>>()
    private var outlet: MiddlewareOutlet<R>?
    var taps = TokenList<NodeTap<R>>()
    /// The connection to the sagas that follow this reactor; `nil` without sagas.
    var sagas: SagaDesk<R>?
    /// Running effects that an action may end, in the order of their numbers.
    var tracked: [TrackedEffect<R.Action>] = [] {
        didSet { isTracking = !tracked.isEmpty }
    }
    private(set) var isTracking = false

    init() {}

    /// Forgets an effect that has ended. *Cost*: a binary search, and a move of the later entries.
    func forget(_ id: EffectID) {
        var low = tracked.startIndex
        var high = tracked.endIndex
        while low < high {
            let middle = (low + high) / 2
            if tracked[middle].id.number < id.number { low = middle + 1 } else { high = middle }
        }
        if low < tracked.endIndex, tracked[low].id == id { tracked.remove(at: low) }
    }

    var isNeeded: Bool {
        actions != nil || mutations != nil || states != nil || !middleware.isEmpty
            || !taps.isEmpty || isTracking
    }

    /// Receives the middleware's dispatches; made at the first run.
    func outlet(of node: Node<R>, _ turn: Turn) -> MiddlewareOutlet<R> {
        if let outlet { return outlet }
        let made = MiddlewareOutlet<R>(node.path, turn.tree.environment)
        outlet = made
        return made
    }

    /// Ends all middleware.
    func dropMiddleware() {
        let all = middleware.elements
        middleware = TokenList()
        for one in all { one.life.end() }
    }
}

/// A running effect that later actions may end.
struct TrackedEffect<Action> {
    var id: EffectID
    /// The action that asked for it, if there is one.
    var cause: Action?
    /// The effect's own condition: whether a given action ends it.
    var until: (@Sendable (any Sendable) -> Bool)?
}
