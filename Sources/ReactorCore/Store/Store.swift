/// A root reactor inside one process: typed actions in, state out, no daemon.
///
/// *Owner*: the isolation that made it; not Sendable. ``handle`` may be sent anywhere.
public final class Store<R: Reactor>: LiveReactor<R> {
    @usableFromInline let core: StoreCore

    /// Makes a store of `reactor`.
    ///
    /// `wake` is called, on any thread, when something waits for ``drain()``: an action sent
    /// through ``handle``, or what an effect emitted. `clock` and `executor` are what effects wait by
    /// and run on; a test gives its own. `effectsMax` is that of the tree: see ``Tree/effectsMax``.
    public init(
        _ reactor: R, clock: TreeClock = .continuous, executor: (any TaskExecutor)? = nil,
        effectsMax: Int = CoreLimits.effectsMax, wake: @escaping @Sendable () -> Void = {}
    ) {
        core = StoreCore(reactor, clock, executor, effectsMax: effectsMax, wake: wake)
        guard let node = core.tree.root as? Node<R> else {
            preconditionFailure("the root has its type")
        }
        super.init(core.tree, node)
        core.open()
    }

    /// Makes the store of a reactor inside another store's tree.
    private init(_ core: StoreCore, _ node: Node<R>) {
        self.core = core
        super.init(core.tree, node)
    }

    /// The reactor of type `type` at `path`, as a store of its own: it shares this one's tree and
    /// order, and dispatches, observes and performs at that reactor.
    ///
    ///     let detail = try store.reactor(Detail.self, at: "/detail")
    ///     try detail.dispatch(.show(7))
    ///
    /// *Throws*: ``Rejection`` where no reactor of that type stands there.
    public func reactor<Nested: Reactor>(
        _ type: Nested.Type, at path: String
    ) throws(Rejection) -> Store<Nested> {
        Store<Nested>(core, try tree.reactor(type, at: path).node)
    }

    /// The reactor that properties lead to, as a store of its own: see ``reactor(_:at:)``.
    ///
    ///     let detail = try store.reactor(ReactorPath(App.self).child(\.$detail))
    public func reactor<Nested: Reactor>(
        _ path: ReactorPath<Nested>
    ) throws(Rejection) -> Store<Nested> {
        try reactor(Nested.self, at: "\(path.path)")
    }

    /// Told what went wrong without a caller to tell: effects that failed, followers and actions of
    /// observers and of ``handle`` that were refused or are too many, and, in debug builds, two
    /// threads inside the store at once. Without it, the last of these goes to standard error.
    public var onComplaint: ((String) -> Void)? {
        get { core.onComplaint }
        set { core.onComplaint = newValue }
    }

    /// Sequence of the last applied action or emission.
    public var sequence: UInt64 { core.turn.sequence }

    /// Applies an action before it returns; one that is dispatched from inside another (by an
    /// observer) waits until that is complete, and is a follower of it: one that is refused then,
    /// or is beyond ``CoreLimits/followerDepthMax`` or ``CoreLimits/followersMax``, is told to
    /// ``onComplaint``.
    ///
    /// *Throws*: ``Rejection``; then nothing was changed.
    @inlinable
    public func dispatch(_ action: R.Action) throws(Rejection) {
        guard core.enter() else { return wait(action) }
        do throws(Rejection) {
            try R._carryOut(action, node, core.turn)
        } catch {
            core.refuse()
            throw error
        }
        core.complete()
    }

    @usableFromInline
    func wait(_ action: R.Action) {
        core.wait { [node] tree in tree.dispatch(waiting: action, to: node) }
    }

    /// Applies an action; `onRejection` is told of a refusal, even where the action has to wait.
    func dispatch(_ action: R.Action, onRejection: @escaping (Rejection) -> Void) {
        guard core.isBusy else {
            do throws(Rejection) {
                try dispatch(action)
            } catch {
                onRejection(error)
            }
            return
        }
        core.wait { [node] tree in
            do throws(Rejection) {
                try tree.dispatch(action, to: node)
            } catch {
                onRejection(error)
            }
        }
    }

    /// Applies an action, and lets nobody know where it is refused.
    public override func send(_ action: R.Action) {
        // because whoever wants to know calls `dispatch`
        dispatch(action) { _ in }
    }

    /// Applies a mutation without asking anybody: see ``LiveReactor/inject(_:)``.
    public override func inject(_ mutation: R.Mutation) {
        core.perform { [node] tree in tree.inject(mutation, into: node) }
    }

    /// Runs what waits: actions sent through ``handle``, and what effects emitted.
    ///
    /// Called by an observer, it takes effect when the action at hand is complete.
    public func drain() { core.drain() }

    // What a drain runs may post more, which the next drain runs; one that an observer calls runs
    // nothing before the observer returns.
    /// Whether another ``drain()`` would find nothing to run now.
    package var isDrained: Bool { core.inbox.isEmpty || core.isBusy }

    /// Calls `observer` with the state now and after every action or emission (once its followers
    /// have run), until the token goes.
    ///
    /// What the observer dispatches is applied after its call, the first one included, and it is
    /// called with what comes of it.
    public func observe(_ observer: @escaping (R.State) -> Void) -> StoreToken {
        core.observe { [node] in observer(node.presented) }
    }
}

extension Tree {
    /// Carries out an action whose sender has gone on; a refusal goes to the log.
    func dispatch<R: Reactor>(waiting action: R.Action, to node: Node<R>) {
        do throws(Rejection) {
            try dispatch(action, to: node)
        } catch {
            turn.complain("\(node.path): an action that waited was refused: \(error)")
        }
    }

    /// Carries out an action of the process's own, then its followers.
    func dispatch<R: Reactor>(_ action: R.Action, to node: Node<R>) throws(Rejection) {
        turn.caller = .daemon
        turn.origin = .daemon
        do throws(Rejection) {
            try R._carryOut(action, node, turn)
        } catch {
            turn.clearRequests()
            throw error
        }
        finishEmission()
    }
}
