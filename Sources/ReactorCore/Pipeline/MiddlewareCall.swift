import ReactorThreads
import ReactorWire

/// One action on its way through middleware.
struct MiddlewareCall<R: Reactor> {
    let run: MiddlewareRun<R>
    let action: R.Action
    /// How long the middleware that is called belongs to its reactor.
    let life: MiddlewareLife
    private var dispatchInstead: Middleware<R>.Dispatch?

    init(_ run: MiddlewareRun<R>, _ action: R.Action, _ life: MiddlewareLife) {
        self.run = run
        self.action = action
        self.life = life
    }

    /// Lends the way to the state to `body`; not where the reactor is gone.
    func reading(_ body: (_ getState: Middleware<R>.GetState) -> Void) {
        guard let node = run.node else { return }
        body { node.state }
    }

    // Made where it is asked for: this is done for every action.
    var dispatch: Middleware<R>.Dispatch {
        get { dispatchInstead ?? run.dispatch(unless: life.isOver) }
        set { dispatchInstead = newValue }
    }

    /// Runs a job once the transaction is committed, and not if it comes to nothing.
    func whenCommitted(_ job: @escaping () -> Void) {
        guard !run.isOver, let turn = run.tree?.turn else { return job() }
        turn.whenCommitted(job)
    }

    /// Runs a job if the transaction comes to nothing.
    func ifWithdrawn(_ job: @escaping () -> Void) {
        if !run.isOver { run.tree?.turn.ifWithdrawn(job) }
    }

    /// Runs a job on the tree's isolation after a while, and gives the way to cancel it; nothing
    /// where too many wait, or the reactor is gone.
    func later(_ pause: Duration, _ job: @escaping () -> Void) -> (() -> Void)? {
        guard let tree = run.tree, let node = run.node,
            let id = tree.run(job, after: pause, for: node, origin: run.origin)
        else { return nil }
        return { [weak tree] in tree?.cancelEffect(id) }
    }

    /// Time since the tree came into being.
    func now() -> Duration { run.tree?.environment.clock.now ?? .zero }
}

/// The middleware's time with one action, inside its transaction and after.
///
/// Middleware may keep what it was handed for ever, so this holds neither node nor tree.
/// *Owner*: the tree's isolation.
final class MiddlewareRun<R: Reactor> {
    let outlet: MiddlewareOutlet<R>
    let origin: Origin
    /// Number of this run among those of the node.
    let number: UInt64
    private(set) weak var tree: Tree?
    private(set) weak var node: Node<R>?
    /// Whether the middleware has returned.
    private(set) var isOver = false

    init(_ node: Node<R>, _ outlet: MiddlewareOutlet<R>, _ turn: Turn) {
        self.node = node
        self.outlet = outlet
        origin = turn.origin
        tree = turn.home
        number = outlet.begin()
    }

    /// The way for an action of this run, until `isOver` is raised.
    func dispatch(unless isOver: Flag) -> Middleware<R>.Dispatch {
        { [outlet, number, origin] action in
            outlet.dispatch(action, from: number, origin, unless: isOver)
        }
    }

    /// Lets what was dispatched until now follow the action.
    func end(_ path: SlicePath, _ turn: Turn) {
        isOver = true
        for action in outlet.end() { turn.follow(path, action) }
    }
}

/// Takes what the middleware of one node dispatches, from any thread, at once or later.
final class MiddlewareOutlet<R: Reactor>: Sendable {
    private let path: SlicePath
    private let post: @Sendable (@escaping @Sendable (Tree) -> Void) -> Void
    private let state = Guarded(State())

    private struct State: Sendable {
        /// Number of the last run.
        var run: UInt64 = 0
        var isRunning = false
        /// What the run has dispatched.
        var followers: [WireEmbedded] = []
    }

    init(_ path: SlicePath, _ environment: TreeEnvironment) {
        self.path = path
        post = environment.post
    }

    /// Begins a run, and gives its number.
    func begin() -> UInt64 {
        state.withLock { state in
            state.run += 1
            state.isRunning = true
            return state.run
        }
    }

    /// Ends the run, and gives what it has dispatched.
    func end() -> [WireEmbedded] {
        state.withLock { state in
            state.isRunning = false
            let followers = state.followers
            state.followers = []
            return followers
        }
    }

    /// Takes an action of the run numbered `run`: a follower while that lasts, later a transaction of
    /// its own, unless `isOver` is raised by then.
    func dispatch(_ action: R.Action, from run: UInt64, _ origin: Origin, unless isOver: Flag) {
        let action = WireEmbedded(action)
        let follows = state.withLock { state in
            guard state.isRunning, state.run == run else { return false }
            state.followers.append(action)
            return true
        }
        if follows || isOver.isUp { return }
        post { [path] tree in
            if !isOver.isUp { tree.dispatch(action, to: path, origin: origin) }
        }
    }
}

/// How long a piece of middleware belongs to a reactor.
///
/// *Owner*: the tree's isolation; ``isOver`` is for any thread.
final class MiddlewareLife {
    let isOver = Flag()
    private var endings: [() -> Void] = []

    /// Runs `job` at the end.
    func whenOver(_ job: @escaping () -> Void) { endings.append(job) }

    func end() {
        isOver.raise()
        let endings = endings
        self.endings = []
        for job in endings { job() }
    }
}

/// Middleware that was added to a node.
struct InstalledMiddleware<R: Reactor> {
    let life: MiddlewareLife
    let body: Middleware<R>.Body

    init(_ middleware: Middleware<R>) {
        life = MiddlewareLife()
        body = middleware.install(life)
    }
}

extension Node {
    /// Adds middleware, until the token goes.
    func add(_ middleware: Middleware<R>) -> StoreToken {
        let installed = InstalledMiddleware(middleware)
        let id = orderedRules().middleware.add(installed)
        weighRules()
        return StoreToken { [weak self, life = installed.life] in
            life.end()
            self?.rules?.middleware.remove(id)
            self?.weighRules()
        }
    }

    /// Lets the middleware look at an action that was decided.
    func runMiddleware(_ action: R.Action, _ rules: NodeRules<R>, _ turn: Turn) {
        let run = MiddlewareRun(self, rules.outlet(of: self, turn), turn)
        defer { run.end(path, turn) }
        for one in rules.middleware.elements where !one.life.isOver.isUp {
            one.body(MiddlewareCall(run, action, one.life))
        }
    }
}
