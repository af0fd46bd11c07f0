/// What stands between an action and its reactor's own functions, and who is told afterwards.
///
/// Absent from a node where there is nothing of it: then an action takes the short way.
/// *Owner*: the tree's isolation.
@usableFromInline
final class NodeRules<R: Reactor> {
    /// The reactor's transforms, where they change anything.
    var actions: TransformRun<R.Action>?
    var mutations: TransformRun<R.Mutation>?
    var states: TransformRun<R.State>?
    /// What `states` made of the state last.
    var presented: R.State?
    var middleware = TokenList<InstalledMiddleware<R>>()
    private var outlet: MiddlewareOutlet<R>?
    var taps = TokenList<NodeTap<R>>()
    /// Where sagas hear of what the reactor does, if there are any.
    var sagas: SagaDesk<R>?
    /// Effects under way that an action may end, in the order of their numbers.
    var tracked: [TrackedEffect<R.Action>] = [] {
        didSet { isTracking = !tracked.isEmpty }
    }
    private(set) var isTracking = false

    init() {}

    /// Forgets an effect that has ended. *Cost*: a search in order, and a move of those behind it.
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

    /// Where the middleware's actions go; made by the first that runs.
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

/// An effect under way, as the actions that come after it see it.
struct TrackedEffect<Action> {
    var id: EffectID
    /// The action that asked for it, if one did.
    var cause: Action?
    /// Whether an action ends it, by its own word.
    var until: (@Sendable (any Sendable) -> Bool)?
}

// MARK: - Rules of a node
extension Node {
    /// The node's rules, made if there were none.
    func orderedRules() -> NodeRules<R> {
        if let rules { return rules }
        let made = NodeRules<R>()
        rules = made
        return made
    }

    /// Looks whether the node still has rules, after one came or went.
    func weighRules() {
        if let rules, !rules.isNeeded { self.rules = nil }
        takesLongWay = isObservedByParent || rules != nil
    }

    /// Asks the reactor for its transforms and its middleware: once, when it is mounted.
    func installPipeline() {
        let actions = reactor.transform(action: Transform())
        let mutations = reactor.transform(mutation: Transform())
        let states = reactor.transform(state: Transform())
        let middleware = reactor.middleware
        guard
            !actions.isIdentity || !mutations.isIdentity || !states.isIdentity
                || !middleware.isEmpty
        else { return }
        let rules = orderedRules()
        if !actions.isIdentity { rules.actions = TransformRun(actions) }
        if !mutations.isIdentity { rules.mutations = TransformRun(mutations) }
        if !states.isIdentity {
            rules.states = TransformRun(states)
            // because a stream may let nothing through for a while, and something has to be shown
            rules.presented = state
        }
        for one in middleware { _ = rules.middleware.add(InstalledMiddleware(one)) }
        weighRules()
    }
}
