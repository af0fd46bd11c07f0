/// The transforms, middleware and taps of a node.
///
/// A node without any of them has no rules, and its actions take the fast path. *Owner*: the tree's
/// isolation.
@usableFromInline
final class NodeRules<R: Reactor> {
    /// The reactor's transforms, if they change anything.
    let actions: TransformRun<R.Action>?
    let mutations: TransformRun<R.Mutation>?
    let states: TransformRun<R.State>?
    /// The last output of `states`.
    private(set) var presented: R.State?
    private(set) var middleware = TokenList<InstalledMiddleware<R>>()
    private var outlet: MiddlewareOutlet<R>?
    private(set) var taps = TokenList<NodeTap<R>>()
    /// What a layer above the engine has attached.
    private(set) var follower: (any NodeFollower)?
    /// Running effects that an action may end, in the order of their numbers.
    private(set) var tracked: [TrackedEffect<R.Action>] = [] {
        didSet { isTracking = !tracked.isEmpty }
    }
    private(set) var isTracking = false

    /// Makes rules with these transforms.
    init(
        actions: TransformRun<R.Action>? = nil, mutations: TransformRun<R.Mutation>? = nil,
        states: TransformRun<R.State>? = nil
    ) {
        self.actions = actions
        self.mutations = mutations
        self.states = states
    }

    /// Replaces the last output of `states`.
    func show(_ presented: R.State?) { self.presented = presented }

    /// Attaches a follower, or removes it.
    func follow(with follower: (any NodeFollower)?) { self.follower = follower }

    /// Adds middleware. Returns the number that removes it.
    func add(_ installed: InstalledMiddleware<R>) -> UInt64 { middleware.add(installed) }

    func removeMiddleware(_ id: UInt64) { middleware.remove(id) }

    /// Adds a tap. Returns the number that removes it.
    func add(_ tap: NodeTap<R>) -> UInt64 { taps.add(tap) }

    func removeTap(_ id: UInt64) { taps.remove(id) }

    /// Remembers a running effect.
    func track(_ effect: TrackedEffect<R.Action>) { tracked.append(effect) }

    /// Forgets the effects that only an action's cause could end.
    func forgetCauses() { tracked.removeAll { $0.until == nil } }

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

/// An object that a layer above the engine attaches to a node, such as the connection to its sagas.
protocol NodeFollower: AnyObject {
    /// Called when the node was removed from its tree.
    func close()
}

/// A list of elements, each of which can be removed by a number.
struct TokenList<Element> {
    // Separate from their numbers: each action walks over the elements and needs no number.
    /// The elements, in the order of their addition.
    private(set) var elements: [Element] = []
    private var ids: [UInt64] = []
    private var lastID: UInt64 = 0

    // Stored: asking an array of a generic type costs a hundred times as much.
    private(set) var isEmpty = true

    /// Adds `element` at the end and returns the number that removes it.
    mutating func add(_ element: Element) -> UInt64 {
        lastID += 1
        ids.append(lastID)
        elements.append(element)
        isEmpty = false
        return lastID
    }

    mutating func remove(_ id: UInt64) {
        guard let index = ids.firstIndex(of: id) else { return }
        ids.remove(at: index)
        elements.remove(at: index)
        isEmpty = ids.isEmpty
    }
}
