import ReactorThreads

/// The way to a reactor at work from any isolation: what is asked of it is queued, and done on the
/// tree's isolation, in the order of the calls.
///
/// A store does it with its next ``Store/drain()``, a daemon at the end of the turn.
public struct ReactorHandle<R: Reactor>: Sendable {
    let environment: TreeEnvironment
    let number: UInt32
    let path: String

    /// Hands over an action; a refusal is told as a complaint.
    public func send(_ action: R.Action) {
        post { tree, node in tree.dispatch(waiting: action, to: node) }
    }

    /// Hands over a mutation; see ``LiveReactor/inject(_:)``.
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

// MARK: - Who looks on, and what comes in
extension ReactorHandle {
    /// Lets `middleware` look at every action, until the token goes.
    public func addMiddleware(_ middleware: sending Middleware<R>) -> ReactorToken {
        let middleware = Confined(middleware)
        return add { $0.addMiddleware(middleware.open()) }
    }

    /// Tells `tap` of the actions and mutations of the reactor, until the token goes.
    public func addTap(_ tap: sending NodeTap<R>) -> ReactorToken {
        let tap = Confined(tap)
        return add { $0.addTap(tap.open()) }
    }

    /// Dispatches what `source` yields, until the token goes; neither its end nor its failure ends
    /// anything else. It is read as fast as the actions are applied: at most
    /// ``CoreLimits/sourcedValuesMax`` of them wait.
    public func connect<Source: AsyncSequence & Sendable>(_ source: Source) -> ReactorToken
    where Source.Element == R.Action {
        ReactorToken(reading(source))
    }

    /// Starts to read a source, and says how to end that: what was read and is not applied by then is
    /// dropped.
    func reading<Source: AsyncSequence & Sendable>(
        _ source: Source
    ) -> @Sendable () -> Void where Source.Element == R.Action {
        let window = SourceWindow()
        let cancel = environment.spawn {
            // A source that fails has ended, and that is all the reactor needs to know.
            try? await sendAll(source, window)
        }
        return {
            window.end()
            cancel()
        }
    }

    private func sendAll<Source: AsyncSequence & Sendable>(
        _ source: Source, _ window: SourceWindow
    ) async throws where Source.Element == R.Action {
        for try await action in source {
            guard let place = await window.place() else { return }
            post { tree, node in
                if place.arrive() { tree.dispatch(waiting: action, to: node) }
            }
        }
    }

    private func add(
        _ begin: @escaping @Sendable (LiveReactor<R>) -> StoreToken
    ) -> ReactorToken {
        let place = Confined(TokenPlace())
        post { tree, node in place.open().token = begin(LiveReactor(tree, node)) }
        // because the token's own end belongs on the tree's isolation
        return ReactorToken { [environment] in
            environment.post { _ in place.open().token = nil }
        } keep: { [environment] in
            environment.post { _ in place.open().token?.keep() }
        }
    }

    /// Where a token of the tree's isolation stays there.
    private final class TokenPlace {
        var token: StoreToken?
    }
}

/// Ends what was begun through a ``ReactorHandle`` when it goes; may be sent anywhere.
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

    /// Lets what was begun last as long as the tree, whatever becomes of the token.
    public func keep() {
        end.withLock { $0 = nil }
        keepToken()
    }
}

// MARK: - Waiting
extension ReactorHandle {
    /// Applies an action, and returns when all the effects that it asked for have ended; what they
    /// emitted has been applied then.
    ///
    /// A task that is cancelled meanwhile takes these effects with it. *Throws*: ``Rejection``;
    /// `NOT_FOUND` where the reactor is gone.
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
        if wish.isCancelled { tree.cancelEffects(of: sequence) }
        tree.turn.whenCommitted { [unowned tree] in
            tree.whenEffectsEnd(of: sequence) { end.give(.success(())) }
        }
    }

    /// What somebody waits for, on the tree's isolation.
    private final class Wish {
        var sequence: UInt64?
        var isCancelled = false

        func cancel(in tree: Tree) {
            isCancelled = true
            if let sequence { tree.cancelEffects(of: sequence) }
        }
    }
}

/// One who waits for the end of an action's effects; told that the reactor is gone when nothing else
/// can be said any more.
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
