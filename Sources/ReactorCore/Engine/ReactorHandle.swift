import ReactorThreads

/// Access to a running reactor from any isolation: its calls are queued, and run on the tree's
/// isolation, in order.
///
/// A store runs them in its next ``Store/drain()``, a daemon at the end of the turn.
public struct ReactorHandle<R: Reactor>: Sendable {
    let environment: TreeEnvironment
    let number: UInt32
    let path: String

    /// Queues an action; a rejection goes to the log.
    public func send(_ action: R.Action) {
        post { tree, node in tree.dispatch(waiting: action, to: node) }
    }

    /// Queues a mutation; see ``LiveReactor/inject(_:)``.
    public func inject(_ mutation: R.Mutation) {
        post { tree, node in tree.inject(mutation, into: node) }
    }

    private func post(_ job: @escaping @Sendable (Tree, Node<R>) -> Void) {
        environment.post { [number] tree in
            guard let node = tree.node(number) as? Node<R> else { return }
            job(tree, node)
        }
    }
}

// MARK: - Observers and inputs
extension ReactorHandle {
    /// Adds `middleware`, which observes every action; releasing the token removes it.
    public func addMiddleware(_ middleware: sending Middleware<R>) -> ReactorToken {
        let middleware = Confined(middleware)
        return add { $0.node.add(middleware.open(), until: $1) }
    }

    /// Adds `tap`, which observes actions and mutations; releasing the token removes it.
    public func addTap(_ tap: sending NodeTap<R>) -> ReactorToken {
        let tap = Confined(tap)
        return add { $0.addTap(tap.open().silent(after: $1)) }
    }

    /// Dispatches the elements of `source`, until the token is released or the reactor is gone; the
    /// end or failure of the source ends nothing else. It is read as fast as the actions are
    /// applied: at most ``CoreLimits/sourcedValuesMax`` of them wait.
    public func connect<Source: AsyncSequence & Sendable>(_ source: Source) -> ReactorToken
    where Source.Element == R.Action {
        ReactorToken(reading(source))
    }

    /// Starts to read a source. Returns the function that ends the reading, and drops elements that
    /// were read but not applied.
    func reading<Source: AsyncSequence & Sendable>(
        _ source: Source
    ) -> @Sendable () -> Void where Source.Element == R.Action {
        let window = SourceWindow()
        let connected = ConnectedSource(window)
        // Posted before the task starts, whose end removes it. If the tree is gone, the job is
        // dropped, and the source with it.
        post { tree, node in tree.sources.add(connected, to: node.number) }
        window.whenOver(
            cancel: environment.spawn {
                // The failure of a source is treated like its end.
                try? await sendAll(source, window)
                environment.post { [number] tree in tree.sources.release(window, of: number) }
            })
        return { window.end() }
    }

    private func sendAll<Source: AsyncSequence & Sendable>(
        _ source: Source, _ window: SourceWindow
    ) async throws where Source.Element == R.Action {
        for try await action in source {
            guard let ticket = await window.ticket() else { return }
            post { tree, node in
                if ticket.arrive() { tree.dispatch(waiting: action, to: node) }
            }
        }
    }

    /// Adds an observer, which sees nothing more once the flag that it receives is raised.
    private func add(
        _ begin: @escaping @Sendable (LiveReactor<R>, Flag) -> StoreToken
    ) -> ReactorToken {
        let box = Confined(TokenBox())
        let isOver = Flag()
        post { tree, node in box.open().token = begin(LiveReactor(tree, node), isOver) }
        // The inner token must be released on the tree's isolation, which may happen much later.
        return ReactorToken { [environment] in
            isOver.raise()
            environment.post { _ in box.open().token = nil }
        } keep: { [environment] in
            environment.post { _ in box.open().token?.keep() }
        }
    }

    /// Holds a token of the tree's isolation, on that isolation.
    private final class TokenBox {
        var token: StoreToken?
    }
}

/// Ends an observation or an input of a ``ReactorHandle`` when it is released; for any thread.
public final class ReactorToken: Sendable {
    private let end: Guarded<(@Sendable () -> Void)?>
    private let keepToken: @Sendable () -> Void

    init(
        _ end: @escaping @Sendable () -> Void, keep: @escaping @Sendable () -> Void = {}
    ) {
        self.end = Guarded(end)
        keepToken = keep
    }

    deinit { end.withLock { $0 }?() }

    /// Makes the observation or input last as long as its reactor; releasing the token has no effect
    /// then.
    public func keep() {
        end.withLock { $0 = nil }
        keepToken()
    }
}

// MARK: - Waiting
extension ReactorHandle {
    /// Applies an action, and returns when all effects that it asked for have ended and their
    /// emissions have been applied.
    ///
    /// Cancelling the task cancels these effects. *Throws*: ``Rejection``; `NOT_FOUND` if the
    /// reactor is gone.
    public func perform(_ action: R.Action) async throws(Rejection) {
        let wish = Confined(Wish())
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let end = PerformEnd(continuation, path)
                post { tree, node in Self.perform(action, tree, node, wish.open(), end) }
            }
        } onCancel: {
            environment.post { tree in wish.open().cancel(in: tree) }
        }
        try result.get()
    }

    private static func perform(
        _ action: R.Action, _ tree: Tree, _ node: Node<R>, _ wish: Wish, _ end: PerformEnd
    ) {
        let sequence = tree.turn.sequence &+ 1
        do throws(Rejection) {
            try tree.dispatch(action, to: node)
        } catch {
            return end.give(.failure(error))
        }
        wish.sequence = sequence
        if wish.isCancelled { tree.effects.cancel(of: sequence) }
        tree.turn.whenCommitted { [unowned tree] in
            tree.whenEffectsEnd(of: sequence) { end.give(.success(())) }
        }
    }

    /// A pending call of ``perform(_:)``, on the tree's isolation.
    private final class Wish {
        var sequence: UInt64?
        var isCancelled = false

        func cancel(in tree: Tree) {
            isCancelled = true
            if let sequence { tree.effects.cancel(of: sequence) }
        }
    }
}

/// Resumes the caller that waits for the end of an action's effects; if it is released before, with
/// the error that the reactor is gone.
private final class PerformEnd: Sendable {
    private typealias Waiter = CheckedContinuation<Result<Void, Rejection>, Never>
    private let waiter: Guarded<Waiter?>
    private let path: String

    init(_ waiter: CheckedContinuation<Result<Void, Rejection>, Never>, _ path: String) {
        self.waiter = Guarded(waiter)
        self.path = path
    }

    deinit { give(.failure(Rejection(.notFound, "\(path) is gone"))) }

    func give(_ result: Result<Void, Rejection>) {
        let waiter = waiter.withLock { waiter in
            defer { waiter = nil }
            return waiter
        }
        waiter?.resume(returning: result)
    }
}
