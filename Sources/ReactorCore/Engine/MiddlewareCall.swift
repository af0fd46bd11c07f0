import ReactorThreads
import ReactorWire

/// One action, as middleware receives it.
struct MiddlewareCall<R: Reactor> {
    let run: MiddlewareRun<R>
    let action: R.Action
    /// The lifetime of the called middleware.
    let life: MiddlewareLife
    private var dispatchInstead: Middleware<R>.Dispatch?

    init(_ run: MiddlewareRun<R>, _ action: R.Action, _ life: MiddlewareLife) {
        self.run = run
        self.action = action
        self.life = life
    }

    /// Calls `body` with a function that reads the state, unless the reactor is gone.
    func reading(_ body: (_ getState: Middleware<R>.GetState) -> Void) {
        guard let node = run.node else { return }
        body { node.state }
    }

    // Computed on demand: a call is made for every action.
    var dispatch: Middleware<R>.Dispatch {
        get { dispatchInstead ?? run.dispatcher(unless: life.isOver) }
        set { dispatchInstead = newValue }
    }

    /// Runs a job once the transaction is committed, and drops it if the transaction is refused.
    func whenCommitted(_ job: @escaping () -> Void) {
        guard !run.isOver, let turn = run.tree?.turn else { return job() }
        turn.whenCommitted(job)
    }

    /// Runs a job if the transaction is refused.
    func ifWithdrawn(_ job: @escaping () -> Void) {
        if !run.isOver { run.tree?.turn.undo.claim(job) }
    }

    /// Runs a job on the tree's isolation after `pause`, or later, when the tree's effects have
    /// room. Returns the function that cancels it, or `nil` if the reactor is gone.
    func later(_ pause: Duration, _ job: @escaping () -> Void) -> (() -> Void)? {
        guard let tree = run.tree, let node = run.node else { return nil }
        let id = tree.effects.schedule(job, after: pause, for: node, origin: run.origin)
        return { [weak tree] in tree?.effects.cancel(id) }
    }

    /// Time since the tree was made.
    func now() -> Duration { run.tree?.environment.clock.now ?? .zero }
}

/// One run of a node's middleware: for one action, inside its transaction and afterwards.
///
/// Middleware may keep its functions forever, so this type holds neither node nor tree.
/// *Owner*: the tree's isolation.
final class MiddlewareRun<R: Reactor> {
    let outlet: MiddlewareOutlet<R>
    let origin: Origin
    /// Number of this run of the node's middleware.
    let number: UInt64
    private(set) weak var tree: Tree?
    private(set) weak var node: Node<R>?
    /// Whether the middleware has returned.
    private(set) var isOver = false

    init(_ node: Node<R>, _ outlet: MiddlewareOutlet<R>, _ turn: Turn) {
        self.node = node
        self.outlet = outlet
        origin = turn.transaction.origin
        tree = turn.home
        number = outlet.begin()
    }

    /// The dispatch function of this run, which does nothing once `isOver` is raised.
    func dispatcher(unless isOver: Flag) -> Middleware<R>.Dispatch {
        { [outlet, number, origin] action in
            outlet.receive(action, from: number, origin, unless: isOver)
        }
    }

    /// Makes the dispatched actions followers of the observed one.
    func end(_ path: SlicePath, _ turn: Turn) {
        isOver = true
        for action in outlet.end() {
            turn.transaction.wishes.request(
                .follower(FollowerRequest(path: path, action: action)))
        }
    }
}

/// Receives the dispatches of one node's middleware, from any thread, at once or later.
final class MiddlewareOutlet<R: Reactor>: Sendable {
    private let path: SlicePath
    private let post: @Sendable (@escaping @Sendable (Tree) -> Void) -> Void
    private let state = Guarded(State())

    private struct State: Sendable {
        /// Number of the last run.
        var run: UInt64 = 0
        var isRunning = false
        /// The actions that the current run has dispatched.
        var followers: [WireEmbedded] = []
    }

    init(_ path: SlicePath, _ environment: TreeEnvironment) {
        self.path = path
        post = environment.post
    }

    /// Begins a run and returns its number.
    func begin() -> UInt64 {
        state.withLock { state in
            state.run += 1
            state.isRunning = true
            return state.run
        }
    }

    /// Ends the run and returns the actions that it has dispatched.
    func end() -> [WireEmbedded] {
        state.withLock { state in
            state.isRunning = false
            let followers = state.followers
            state.followers = []
            return followers
        }
    }

    /// Receives an action from the run numbered `run`: a follower while that run lasts, afterwards
    /// a separate transaction, unless `isOver` has been raised.
    func receive(_ action: R.Action, from run: UInt64, _ origin: Origin, unless isOver: Flag) {
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

/// The lifetime of a piece of middleware in a reactor.
///
/// *Owner*: the tree's isolation; any thread may read and raise ``isOver``.
final class MiddlewareLife {
    let isOver: Flag
    private var endings: [() -> Void] = []

    init(until isOver: Flag) { self.isOver = isOver }

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

    init(_ middleware: Middleware<R>, until isOver: Flag = Flag()) {
        life = MiddlewareLife(until: isOver)
        body = middleware.install(life)
    }
}
