import ReactorThreads

/// The sagas of a tree's reactors.
///
/// A saga runs as an effect. Each node with sagas has a ``SagaBroker``, which exists while a saga
/// uses it. *Owner*: the tree's isolation.
final class SagaRunner: TreePart {
    /// State shared by all sagas.
    private(set) lazy var runtime = SagaRuntime(effects.environment)
    private let nodes: NodeRegistry
    private let effects: EffectRunner
    private let turn: Turn

    init(_ tree: Tree) {
        nodes = tree.nodes
        effects = tree.effects
        turn = tree.turn
    }

    /// The runner of a tree.
    static func of(_ tree: Tree) -> SagaRunner { tree.part(SagaRunner.self) }

    /// Passes a job to the tree's isolation.
    var post: @Sendable (@escaping @Sendable (Tree) -> Void) -> Void { effects.environment.post }

    // MARK: Running

    /// Runs a saga of the reactor of `node`, until it ends, is cancelled, or the reactor is
    /// removed.
    func run<R: Reactor, Value: Sendable>(
        on node: Node<R>, _ body: @escaping @Sendable (SagaContext<R>) async throws -> Value
    ) -> SagaHandle<Value> {
        let scope = SagaScope.top(in: runtime)
        let result = Guarded<Value?>(nil, by: runtime.lock)
        adopt(scope, on: node) { [context = context(of: scope, on: node)] in
            scope.start {
                let value = try await body(context)
                result.withLock { $0 = value }
            }
        }
        return SagaHandle(scope: scope, result: result)
    }

    /// Registers a top-level saga of `node`, and starts it.
    func adopt<R: Reactor>(_ scope: SagaScope, on node: Node<R>, _ start: () -> Void) {
        guard let id = effects.admit(node) else {
            // The broker was made for this saga, and may have no other user.
            _ = retainBroker(of: node)
            releaseBroker(of: node.number, R.self)
            scope.fail(SagaError.tooMany)
            return scope.bodyEnded(nil)
        }
        // Sequence 0: no transaction asked for it, and none waits for its end.
        effects.list(RunningEffect(origin: .daemon, sequence: 0), as: id)
        _ = retainBroker(of: node)
        launch(scope, id, on: node, nil, start)
    }

    /// Starts one of the reactor's own sagas once the current transaction is committed.
    func startSaga<R: Reactor>(_ run: SagaRun<R>, of node: Node<R>) {
        let id = listSaga(of: node)
        turn.whenCommitted { [self] in
            effects.start(id) { [self] in startSaga(run, id, of: node) }
        } orElse: { [self, number = node.number] in
            effects.end(id)
            releaseBroker(of: number, R.self)
        }
    }

    /// Starts one of the reactor's own sagas again, once there is room.
    private func restartSaga<R: Reactor>(_ run: SagaRun<R>, of number: UInt32) {
        guard let node = nodes[number] as? Node<R> else { return }
        effects.countRestart()
        let id = listSaga(of: node)
        effects.start(id) { [self] in startSaga(run, id, of: node) }
    }

    private func listSaga<R: Reactor>(of node: Node<R>) -> EffectID {
        let id = effects.newID(of: node)
        effects.list(RunningEffect(origin: .daemon, sequence: 0, isSource: true), as: id)
        // Retained now: an action right after this one is decided before this one is committed.
        _ = retainBroker(of: node)
        return id
    }

    private func startSaga<R: Reactor>(_ run: SagaRun<R>, _ id: EffectID, of node: Node<R>) {
        guard effects.running[id] != nil, !node.isGone else {
            effects.end(id)
            return releaseBroker(of: node.number, R.self)
        }
        guard let scope = SagaScope.topIfRoom(in: runtime) else {
            effects.postpone(id) { [self] in startSaga(run, id, of: node) }
            return waitForRoom()
        }
        let context = context(of: scope, on: node)
        var run = run
        run.begin(at: runtime.clock.now)
        launch(scope, id, on: node, run) { [run] in
            scope.start { try await run.body(context) }
        }
    }

    private func waitForRoom() {
        let post = post
        runtime.whenRoom {
            post { tree in SagaRunner.of(tree).startWaiting() }
        }
    }

    /// Starts waiting sagas while there is room.
    private func startWaiting() {
        while runtime.hasRoom(for: 1), let start = effects.takeWaitingSaga() { start() }
        if !effects.waitingSagas.isEmpty { waitForRoom() }
    }

    /// Starts a registered saga, whose broker is retained; `run` is one of the reactor's own.
    private func launch<R: Reactor>(
        _ scope: SagaScope, _ id: EffectID, on node: Node<R>, _ run: SagaRun<R>?,
        _ start: () -> Void
    ) {
        let post = post
        let number = node.number
        scope.whenDecided { end in
            guard case .failed(let error) = end else { return }
            // Its forks may still be ending.
            post { tree in
                guard let run else { return tree.effects.failEarly(id, error, of: R.self) }
                SagaRunner.of(tree).failed(run, id, error)
            }
        }
        scope.whenRunFails { error, cause in
            post { tree in
                SagaRunner.of(tree).runFailed(
                    number, error, of: R.self, cause, in: run?.title ?? "a saga")
            }
        }
        scope.whenOver {
            post { tree in
                tree.effects.ended(id, nil, of: R.self)
                SagaRunner.of(tree).releaseBroker(of: number, R.self)
            }
        }
        effects.set(cancel: { scope.cancel() }, of: id)
        start()
    }

    // MARK: Failures

    /// Handles the failure of one of a reactor's own sagas: logs it, plans the next run, and
    /// informs the reactor.
    private func failed<R: Reactor>(_ run: SagaRun<R>, _ id: EffectID, _ error: any Error) {
        guard effects.endEarly(id), let node = nodes[id.node] as? Node<R> else { return }
        var run = run
        let failure = run.endRun(with: error, at: runtime.clock.now)
        turn.complain("\(node.path): \(run.report(failure))")
        if let pause = failure.restartsAfter {
            _ = effects.schedule(
                { [self, run] in restartSaga(run, of: id.node) }, after: pause, for: node,
                origin: .daemon, isSource: true)
        } else if run.restart != .never {
            effects.countGivenUp()
        }
        node.sagaFailed(failure, turn)
    }

    /// Handles the failure of a handler's run: logs it and informs the reactor, and ends nothing
    /// else.
    private func runFailed<R: Reactor>(
        _ number: UInt32, _ error: any Error, of type: R.Type, _ cause: (any Sendable)?,
        in title: String
    ) {
        guard let node = nodes[number] as? Node<R> else { return }
        turn.complain("\(node.path): a run of a handler of \(title) failed: \(error)")
        node.fail(error, cause as? R.Action, origin: .daemon, turn)
    }

    /// The context of a top-level saga.
    private func context<R: Reactor>(of scope: SagaScope, on node: Node<R>) -> SagaContext<R> {
        let position = SagaPosition(broker(of: node).log)
        scope.adopt(position)
        return SagaContext(host: TreeSagaHost(node, self), scope: scope, position: position)
    }

    // MARK: Brokers

    /// The broker of `node`, which exists until its release.
    func retainBroker<R: Reactor>(of node: Node<R>) -> SagaBroker<R> {
        let broker = broker(of: node)
        broker.retain()
        assert(invariants(at: node))
        return broker
    }

    /// Releases the broker; without users, it is removed, and actions take the fast path again.
    func releaseBroker<R: Reactor>(of number: UInt32, _ type: R.Type) {
        guard let node = nodes[number] as? Node<R>, let broker = Self.broker(at: node) else {
            return
        }
        defer { assert(invariants(at: node)) }
        guard broker.release() else { return }
        node.rules?.follow(with: nil)
        broker.disconnect()
    }

    /// The broker of `node`, created if needed.
    private func broker<R: Reactor>(of node: Node<R>) -> SagaBroker<R> {
        if let broker = Self.broker(at: node) { return broker }
        let log = SagaLog<R>(runtime)
        let broker = SagaBroker(log, path: "\(node.path)") { [unowned node] in
            node.state
        } dispatch: { [unowned node, unowned turn] action, then in
            turn.transaction.begin(by: .daemon, .daemon)
            // The notes between this job and the next are those of the action.
            let start = LogMark()
            turn.whenCommitted { start.number = log.end }
            do throws(Rejection) {
                try R._carryOut(action, node, turn)
            } catch {
                turn.transaction.wishes.clear()
                return then(.failure(error), 0..<0)
            }
            // The saga sees the consequences of its action, but not the action itself.
            turn.whenCommitted { then(.success(()), start.number..<log.end) }
            turn.tree.finishEmission()
        }
        node.orderedRules().follow(with: broker)
        broker.connect(node.addTap(broker.tap))
        return broker
    }

    /// The broker of a node has a user; the tree's actions reach it while it exists.
    func invariants<R: Reactor>(at node: Node<R>) -> Bool {
        guard let broker = Self.broker(at: node) else { return true }
        return broker.isUsed && broker.isConnected && node.takesLongWay
    }

    /// The broker of `node`, if it has sagas.
    static func broker<R: Reactor>(at node: Node<R>) -> SagaBroker<R>? {
        node.rules?.follower as? SagaBroker<R>
    }
}

/// A log's end at one moment.
private final class LogMark {
    var number: UInt64 = 0
}

/// Runs sagas of one reactor of a tree.
struct TreeSagaHost<R: Reactor>: SagaHost {
    let runtime: SagaRuntime
    let path: String
    let node: UInt32
    let post: @Sendable (@escaping @Sendable (Tree) -> Void) -> Void

    init(_ node: Node<R>, _ sagas: SagaRunner) {
        runtime = sagas.runtime
        path = "\(node.path)"
        self.node = node.number
        post = sagas.post
    }

    func perform(_ job: @escaping @Sendable (SagaBroker<R>?) -> Void) {
        post { [node] tree in job((tree.node(node) as? Node<R>).flatMap(SagaRunner.broker(at:))) }
    }

    func adopt(_ scope: SagaScope, _ start: @escaping @Sendable () -> Void) {
        post { [node, path] tree in
            guard let node = tree.node(node) as? Node<R> else {
                scope.fail(SagaError.gone(path: path))
                return scope.bodyEnded(nil)
            }
            SagaRunner.of(tree).adopt(scope, on: node, start)
        }
    }

    func put(
        _ action: WireEmbedded, to path: String, for scope: SagaScope, then: @escaping SagaPutEnd
    ) {
        post { tree in
            guard scope.isOpen else {
                scope.runtime.countDropped()
                return then(.failure(CancellationError()))
            }
            do throws(Rejection) {
                try Self.put(action, to: path, in: tree)
                tree.turn.whenCommitted { then(.success(())) }
            } catch {
                then(.failure(error))
            }
        }
    }

    func find<Other: Reactor>(
        _ type: Other.Type, at path: String, then: @escaping SagaTargetReceiver<Other>
    ) {
        post { tree in
            guard let slice = try? SlicePath(path), let node = tree.node(at: slice) as? Node<Other>
            else { return then(.failure(SagaError.gone(path: path))) }
            let broker = SagaRunner.of(tree).retainBroker(of: node)
            let host = TreeSagaHost<Other>(node, SagaRunner.of(tree))
            then(
                .success(
                    SagaTarget(host, broker.log) {
                        host.post { tree in
                            SagaRunner.of(tree).releaseBroker(of: host.node, Other.self)
                        }
                    }))
        }
    }

    /// Dispatches an action of a saga to the node at `path`.
    private static func put(
        _ action: WireEmbedded, to path: String, in tree: Tree
    ) throws(Rejection) {
        guard let slice = try? SlicePath(path), let node = tree.node(at: slice) else {
            throw Rejection(.notFound, "\(path): no such node")
        }
        switch tree.dispatch(to: node, action.bytes.span, by: .daemon, ordinal: 0) {
        case .failed(.rejected(let rejection)): throw rejection
        case .failed(.decode(let error)): throw Rejection(.decode, "\(path): \(error)")
        case .applied, .replied, .accepted, .deferred: break
        }
    }
}

// MARK: - Sagas of authors
extension Saga {
    /// Makes a saga of its function; it does not start again after an error.
    public init(_ body: @escaping @Sendable (SagaContext<R>) async throws -> Void) {
        self.init("", body)
    }

    /// Makes a saga with a name for the log, and says whether it starts again after an error.
    ///
    /// A new run begins with the function's first line, and sees the actions from its start on: a
    /// saga reads from the state what it has to know of the time before.
    public init(
        _ name: String, restart: SagaRestart = .never,
        _ body: @escaping @Sendable (SagaContext<R>) async throws -> Void
    ) {
        let run = SagaRun(name, restart, body)
        self.init(begin: { node, tree in SagaRunner.of(tree).startSaga(run, of: node) })
    }
}

extension LiveReactor {
    /// Runs a saga of the reactor, until it ends, is cancelled, or the reactor is removed.
    ///
    ///     let handle = store.runSaga { saga in
    ///         let text = try await saga.take { if case .search(let text) = $0 { text } else { nil } }
    ///         try await saga.put(.run(text))
    ///     }
    @discardableResult
    public final func runSaga<Value: Sendable>(
        _ body: @escaping @Sendable (SagaContext<R>) async throws -> Value
    ) -> SagaHandle<Value> {
        SagaRunner.of(tree).run(on: node, body)
    }
}
