import ReactorThreads

// MARK: - Running sagas
extension Tree {
    /// Runs a saga of the reactor of `node`, until it ends, is cancelled, or the reactor goes.
    ///
    /// It takes one of the places of ``Tree/effectsMax``; what it forks takes none. An error
    /// that nobody catches goes to ``Reactor/error(_:action:state:)``.
    public func runSaga<R: Reactor, Value: Sendable>(
        on node: Node<R>, _ body: @escaping @Sendable (SagaContext<R>) async throws -> Value
    ) -> SagaHandle<Value> {
        let scope = SagaScope.top(in: sagaRoom)
        let result = Guarded<Value?>(nil, by: sagaRoom.lock)
        adopt(scope, on: node) { [context = context(of: scope, on: node)] in
            scope.start {
                let value = try await body(context)
                result.withLock { $0 = value }
            }
        }
        return SagaHandle(scope: scope, result: result)
    }

    /// Lists a saga at the top among what runs for `node`, and starts it.
    func adopt<R: Reactor>(_ scope: SagaScope, on node: Node<R>, _ start: () -> Void) {
        guard let id = admitEffect(of: node) else {
            // because the desk was made for it, and nobody else may need it
            _ = retainDesk(of: node)
            releaseDesk(of: node.number, R.self)
            scope.fail(SagaError.tooMany)
            return scope.bodyEnded(nil)
        }
        // because no transaction asked for it, nobody waits for it to end
        list(RunningEffect(origin: .daemon, sequence: 0), as: id)
        _ = retainDesk(of: node)
        launch(scope, id, on: node, start)
    }

    /// Starts a saga that is listed, and for which the desk is held.
    func launch<R: Reactor>(
        _ scope: SagaScope, _ id: EffectID, on node: Node<R>, _ start: () -> Void
    ) {
        let post = environment.post
        let number = node.number
        scope.whenDecided { end in
            guard case .failed(let error) = end else { return }
            post { tree in tree.sagaFailed(id, error, of: R.self) }
        }
        scope.whenRunFails { error, cause in
            post { tree in tree.sagaRunFailed(number, error, of: R.self, cause) }
        }
        scope.whenOver {
            post { tree in
                tree.effectEnded(id, nil, of: R.self)
                tree.releaseDesk(of: number, R.self)
            }
        }
        running.set(cancel: { scope.cancel() }, of: id)
        start()
    }

    /// What a saga at the top sees of its reactor.
    func context<R: Reactor>(of scope: SagaScope, on node: Node<R>) -> SagaContext<R> {
        let ear = SagaEar(node.sagaDesk(self).log)
        scope.adopt(ear)
        return SagaContext(host: TreeSagaHost(node, self), scope: scope, ear: ear)
    }

    /// What a handler began has failed: the reactor is told, and nothing else ends.
    private func sagaRunFailed<R: Reactor>(
        _ number: UInt32, _ error: any Error, of type: R.Type, _ cause: (any Sendable)?
    ) {
        guard let node = node(number) as? Node<R> else { return }
        turn.news.failures.append(
            LateFailure(
                origin: .daemon, code: LateFailure.effectFailedCode, message: "\(error)"))
        node.fail(error, cause as? R.Action, origin: .daemon, turn)
    }

    private func sagaFailed<R: Reactor>(_ id: EffectID, _ error: any Error, of type: R.Type) {
        guard running[id] != nil else { return }
        // because what it began may still be on its way to its end
        listOrphan(id)
        fail(id, error, of: type, nil)
    }
}

// MARK: - Desks
extension Tree {
    /// The desk of `node`, which is there until it is released.
    func retainDesk<R: Reactor>(of node: Node<R>) -> SagaDesk<R> {
        let desk = node.sagaDesk(self)
        desk.users += 1
        return desk
    }

    /// Takes a desk away that nobody needs any more, so that actions take the short way again.
    func releaseDesk<R: Reactor>(of number: UInt32, _ type: R.Type) {
        guard let node = node(number) as? Node<R>, let desk = node.rules?.sagas else { return }
        desk.users -= 1
        guard desk.users == 0 else { return }
        node.rules?.sagas = nil
        desk.token = nil
    }
}

extension Node {
    /// Where the node's sagas hear of what it does; made if there was none.
    func sagaDesk(_ tree: Tree) -> SagaDesk<R> {
        if let desk = rules?.sagas { return desk }
        let log = SagaLog<R>(tree.sagaRoom)
        let desk = SagaDesk(log, path: "\(path)") { [unowned self] in
            state
        } dispatch: { [unowned self, unowned tree] action, then in
            tree.turn.caller = .daemon
            tree.turn.origin = .daemon
            // What is told between this job and the next tells of the action, and of nothing else.
            let start = LogPlace()
            tree.turn.whenCommitted { start.number = log.end }
            do throws(Rejection) {
                try R._carryOut(action, self, tree.turn)
            } catch {
                tree.turn.clearRequests()
                return then(.failure(error), 0..<0)
            }
            // What the action causes is for the saga's next take, and the action is not.
            tree.turn.whenCommitted { then(.success(()), start.number..<log.end) }
            tree.finishEmission()
        }
        orderedRules().sagas = desk
        desk.token = tree.addTap(to: self, desk.tap)
        return desk
    }

    /// Starts the reactor's own sagas once the transaction at hand is committed.
    func beginSagas(_ turn: Turn) {
        let tree = turn.tree
        for saga in reactor.sagas {
            let id = tree.newEffectID(of: self)
            tree.list(
                RunningEffect(origin: .daemon, sequence: 0, isSource: true), as: id)
            // because an action behind this one is decided before this one is committed
            _ = tree.retainDesk(of: self)
            turn.whenCommitted { [self] in
                tree.begin(id) { [self] in
                    guard tree.running[id] != nil, !isGone else {
                        tree.endEffect(id)
                        return tree.releaseDesk(of: number, R.self)
                    }
                    let scope = SagaScope.top(in: tree.sagaRoom)
                    let context = tree.context(of: scope, on: self)
                    tree.launch(scope, id, on: self) {
                        scope.start { try await saga.body(context) }
                    }
                }
            } orElse: { [number] in
                tree.endEffect(id)
                tree.releaseDesk(of: number, R.self)
            }
        }
    }
}

/// Where a log was at some moment.
private final class LogPlace {
    var number: UInt64 = 0
}
