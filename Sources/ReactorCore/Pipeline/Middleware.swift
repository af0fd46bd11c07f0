/// Something that looks at every action of a reactor when its reduce is done, and may dispatch more.
///
///     static let log = Middleware<Shop> { state, action, dispatch in
///         print(action, state().total)
///     }
///
/// It runs in the action's transaction, after the reduce and before the commit; what it dispatches
/// are followers: transactions of their own, right behind. So no change is ever lost to it, and it
/// sees the state that the action led to.
public struct Middleware<R: Reactor> {
    /// Reads the state as it is when it is called.
    public typealias GetState = () -> R.State
    /// Dispatches an action behind the one at hand.
    public typealias Dispatch = (R.Action) -> Void

    let body: (MiddlewareCall<R>) -> Void

    /// Makes middleware of a function.
    public init(
        _ body:
            @escaping (
                _ getState: GetState, _ action: R.Action, _ dispatch: @escaping Dispatch
            ) -> Void
    ) {
        self.body = { call in body({ call.run.node.state }, call.action, call.dispatch) }
    }

    init(call body: @escaping (MiddlewareCall<R>) -> Void) { self.body = body }
}

/// One action on its way through middleware.
struct MiddlewareCall<R: Reactor> {
    let run: MiddlewareRun<R>
    let action: R.Action
    private var dispatchInstead: ((R.Action) -> Void)?

    init(_ run: MiddlewareRun<R>, _ action: R.Action) {
        self.run = run
        self.action = action
    }

    // because each closure is made only where it is asked for: this is done for every action
    var getState: () -> R.State { { [run] in run.node.state } }

    var dispatch: (R.Action) -> Void {
        get { dispatchInstead ?? { [run] action in run.dispatch(action) } }
        set { dispatchInstead = newValue }
    }

    /// Runs a job once the transaction is committed, and not if it comes to nothing.
    func whenCommitted(_ job: @escaping () -> Void) {
        // because what is refused in the end is not to be heard of later
        if run.isOver { job() } else { run.turn.whenCommitted(job) }
    }

    /// Runs a job if the transaction comes to nothing.
    func ifWithdrawn(_ job: @escaping () -> Void) {
        if !run.isOver { run.turn.ifWithdrawn(job) }
    }

    /// Runs a job on the tree's isolation after a while; answers false where too many wait.
    func later(_ pause: Duration, _ job: @escaping () -> Void) -> Bool {
        guard let tree = run.turn.home else { return false }
        return tree.run(job, after: pause, for: run.node, origin: run.origin)
    }

    /// Time since the tree came into being.
    func now() -> Duration { run.turn.home?.environment.clock.now ?? .zero }
}

/// The middleware's time with one action, inside its transaction and after.
///
/// *Owner*: the tree's isolation.
final class MiddlewareRun<R: Reactor> {
    let node: Node<R>
    let turn: Turn
    let origin: Origin
    /// Whether the transaction has ended.
    var isOver = false

    init(_ node: Node<R>, _ turn: Turn) {
        self.node = node
        self.turn = turn
        origin = turn.origin
    }

    func dispatch(_ action: R.Action) {
        let action = WireEmbedded(action)
        // because what is dispatched when the transaction is over follows nothing
        if !isOver { return turn.follow(node.path, action) }
        turn.home?.environment.post { [path = node.path, origin] tree in
            tree.dispatch(action, to: path, origin: origin)
        }
    }
}

// MARK: - Putting middleware together
extension Middleware {
    /// Runs all of these, in order.
    public static func combine(_ all: [Middleware]) -> Middleware {
        Middleware(call: { call in for one in all { one.body(call) } })
    }

    /// Runs all of these, in order.
    public static func combine(_ all: Middleware...) -> Middleware { combine(all) }

    /// Runs for the actions that `isWanted` says.
    public func filter(_ isWanted: @escaping (R.Action) -> Bool) -> Middleware {
        Middleware(call: { call in if isWanted(call.action) { body(call) } })
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
            body({ call.getState()[keyPath: part] }, payload, call.dispatch)
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
