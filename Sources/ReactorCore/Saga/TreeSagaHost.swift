/// Runs sagas of one reactor of a tree.
struct TreeSagaHost<R: Reactor>: SagaHost {
    let room: SagaRoom
    let path: String
    let node: UInt32
    let post: @Sendable (@escaping @Sendable (Tree) -> Void) -> Void

    init(_ node: Node<R>, _ sagas: SagaRunner) {
        room = sagas.room
        path = "\(node.path)"
        self.node = node.number
        post = sagas.post
    }

    func perform(_ job: @escaping @Sendable (SagaDesk<R>?) -> Void) {
        post { [node] tree in job((tree.node(node) as? Node<R>)?.rules?.sagas) }
    }

    func adopt(_ scope: SagaScope, _ start: @escaping @Sendable () -> Void) {
        post { [node, path] tree in
            guard let node = tree.node(node) as? Node<R> else {
                scope.fail(SagaError.gone(path: path))
                return scope.bodyEnded(nil)
            }
            tree.sagas.adopt(scope, on: node, start)
        }
    }

    func put(
        _ action: WireEmbedded, to path: String, for scope: SagaScope, then: @escaping SagaPutEnd
    ) {
        post { tree in
            guard scope.isOpen else {
                scope.room.noteDropped()
                return then(.failure(CancellationError()))
            }
            do throws(Rejection) {
                try Self.dispatch(action, to: path, in: tree)
                tree.turn.whenCommitted { then(.success(())) }
            } catch {
                then(.failure(error))
            }
        }
    }

    func find<Other: Reactor>(
        _ type: Other.Type, at path: String, then: @escaping SagaPlaceEnd<Other>
    ) {
        post { tree in
            guard let slice = try? SlicePath(path), let node = tree.node(at: slice) as? Node<Other>
            else { return then(.failure(SagaError.gone(path: path))) }
            let desk = tree.sagas.retainDesk(of: node)
            let host = TreeSagaHost<Other>(node, tree.sagas)
            then(
                .success(
                    SagaPlace(host, desk.log) {
                        host.post { tree in tree.sagas.releaseDesk(of: host.node, Other.self) }
                    }))
        }
    }

    /// Dispatches an action of a saga to the node at `path`.
    private static func dispatch(
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
