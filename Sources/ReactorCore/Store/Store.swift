/// A root reactor inside one process: typed actions in, state out, no daemon.
///
/// *Owner*: the isolation that made it; not Sendable. ``handle`` can be sent to any thread.
public final class Store<R: Reactor>: LiveReactor<R> {
    @usableFromInline let core: StoreCore

    /// Makes a store of `reactor`.
    ///
    /// The store calls `wake`, on any thread, when jobs wait for ``drain()``: actions sent through
    /// ``handle``, or emissions of effects. Effects wait by `clock` and run on `executor`; a test
    /// passes its own, and its own random numbers. For `effectsMax` see ``Tree/effectsMax``.
    public init(
        _ reactor: R, clock: TreeClock = .continuous, random: TreeRandom = .system,
        executor: (any TaskExecutor)? = nil, effectsMax: Int = CoreLimits.effectsMax,
        wake: @escaping @Sendable () -> Void = {}
    ) {
        core = StoreCore(
            reactor, clock, random, executor, effectsMax: effectsMax, wake: wake)
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

    /// The reactor of type `type` at `path`, as a store of its own, which shares this one's tree
    /// and order of actions.
    ///
    ///     let detail = try store.reactor(Detail.self, at: "/detail")
    ///     try detail.dispatch(.show(7))
    ///
    /// *Throws*: ``Rejection`` if there is no reactor of that type.
    public func reactor<Nested: Reactor>(
        _ type: Nested.Type, at path: String
    ) throws(Rejection) -> Store<Nested> {
        Store<Nested>(core, try tree.reactor(type, at: path).node)
    }

    /// The reactor at the path of properties, as a store of its own: see ``reactor(_:at:)``.
    ///
    ///     let detail = try store.reactor(ReactorPath(App.self).child(\.$detail))
    public func reactor<Nested: Reactor>(
        _ path: ReactorPath<Nested>
    ) throws(Rejection) -> Store<Nested> {
        try reactor(Nested.self, at: "\(path.path)")
    }

    /// Receives failures that have no caller: failed effects; refused or surplus followers and
    /// actions of observers and of ``handle``; and, in debug builds, two threads inside the store
    /// at once. Without it, only the last goes anywhere: to standard error.
    public var onComplaint: ((String) -> Void)? {
        get { core.onComplaint }
        set { core.onComplaint = newValue }
    }

    /// The id of the root reactor.
    public var id: ReactorID { core.tree.id(of: node) }

    /// Sequence of the last applied action or emission.
    public var sequence: UInt64 { core.turn.sequence }

    /// Applies an action before it returns. An action dispatched from inside another (by an
    /// observer) waits until that is complete, as its follower; if it is refused then, or exceeds
    /// ``CoreLimits/followerDepthMax`` or ``CoreLimits/followersMax``, the store reports it to
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

    /// Applies an action, and calls `onRejection` if it is refused, even after a wait.
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

    /// Applies an action and ignores its rejection.
    public override func send(_ action: R.Action) {
        // A caller that needs the rejection uses `dispatch`.
        dispatch(action) { _ in }
    }

    /// Applies a mutation without calling `mutate`: see ``LiveReactor/inject(_:)``.
    public override func inject(_ mutation: R.Mutation) {
        core.perform { [node] tree in tree.inject(mutation, into: node) }
    }

    /// Runs the waiting jobs: actions sent through ``handle``, and emissions of effects.
    ///
    /// Called by an observer, it takes effect after the current action.
    public func drain() { core.drain() }

    // Jobs that a drain posts are left for the next one. A drain called by an observer runs its
    // jobs after the observer returns.
    /// Whether another ``drain()`` would have no job to run now.
    package var isDrained: Bool { core.inbox.isEmpty || core.isBusy }

    /// Calls `observer` with the state now and after every action or emission (once its followers
    /// have run), until the token is released.
    ///
    /// Actions that the observer dispatches, also in its first call, apply after that call, and
    /// call the observer again.
    public func observe(_ observer: @escaping (R.State) -> Void) -> StoreToken {
        core.observe { [node] in observer(node.presented) }
    }

    /// Calls `body` with the value of a ``Pulse`` or ``Stamped`` at each later assignment, even of
    /// an equal value, until the token is released.
    public func pulse<Value>(
        _ field: KeyPath<R.State, some Counted<Value>>, _ body: @escaping (Value) -> Void
    ) -> StoreToken {
        var listener = PulseListener(state[keyPath: field])
        return observe { state in
            let pulse = state[keyPath: field]
            if listener.isTold(of: pulse) { body(pulse.value) }
        }
    }
}

// MARK: - Waiting
extension Store {
    /// Applies an action, and returns when all effects that it asked for have ended and their
    /// emissions have been applied.
    ///
    /// Cancelling the task cancels these effects. *Throws*: ``Rejection``.
    public nonisolated(nonsending) func perform(_ action: R.Action) async throws(Rejection) {
        let sequence = core.turn.sequence &+ 1
        try dispatch(action)
        await core.effectsEnd(of: sequence)
    }

    /// Drains the store whenever jobs wait for it, until the task is cancelled.
    ///
    ///     Task { await store.run() }
    public nonisolated(nonsending) func run() async {
        while !Task.isCancelled {
            drain()
            await core.inbox.arrival()
        }
    }
}
