import ReactorThreads

// MARK: - Work that stands beside the reactor
extension Node {
    /// What is done with a value that comes from outside, or out of a stream.
    typealias Arrive<Value> = @Sendable (Node<R>, Value, Turn) -> Void

    /// Reads a source until it ends or the node is torn down.
    func openSource<Value: Sendable>(
        _ source: Transform<Value>.Source, _ turn: Turn, _ arrive: @escaping Arrive<Value>
    ) {
        let read = source.read
        work(turn) { deliver in
            try await read(deliver)
        } arrive: {
            arrive($0, $1, $2)
        }
    }

    /// Lets a stream work until it ends or the node is torn down.
    func openStream<Value: Sendable>(
        _ run: TransformRun<Value>, _ stage: Int, _ input: AsyncStream<Value>, _ turn: Turn,
        _ arrive: @escaping Arrive<Value>
    ) {
        guard case .stream(let change) = run.stages[stage] else { return }
        let run = Confined(run)
        work(turn) { deliver in
            try await change(input, deliver)
        } ended: {
            run.open().closed(stage)
        } arrive: {
            arrive($0, $1, $2)
        }
    }

    private func work<Value: Sendable>(
        _ turn: Turn,
        _ body: @escaping @Sendable (@escaping @Sendable (Value) -> Void) async throws -> Void,
        ended: @escaping @Sendable () -> Void = {},
        arrive: @escaping Arrive<Value>
    ) {
        guard let id = turn.tree.admitEffect(of: self) else { return }
        let tree = turn.tree
        tree.running[id] = RunningEffect(
            origin: .daemon, sequence: turn.lastSequence &+ 1, isSource: true)
        let post = tree.environment.post
        let deliver: @Sendable (Value) -> Void = { value in
            post { tree in
                guard tree.running[id] != nil, let node = tree.node(id.node) as? Node<R> else {
                    tree.lateEmissions &+= 1
                    return
                }
                tree.turn.caller = .daemon
                tree.turn.origin = .daemon
                arrive(node, value, tree.turn)
            }
        }
        turn.whenCommitted { [self] in
            tree.launch(id, on: self) {
                defer { post { _ in ended() } }
                try await body(deliver)
            }
        }
    }
}

extension Tree {
    /// Runs `job` on the tree's isolation after a while, unless `node` is gone by then; what it
    /// dispatches are transactions of their own.
    func run<R: Reactor>(
        _ job: @escaping () -> Void, after pause: Duration, for node: Node<R>, origin: Origin
    ) {
        guard let id = admitEffect(of: node) else { return }
        running[id] = RunningEffect(origin: origin, sequence: 0)
        jobs[id] = job
        let clock = environment.clock
        let post = environment.post
        launch(id, on: node) {
            try await clock.sleep(for: pause)
            post { tree in
                guard tree.running[id] != nil, let job = tree.jobs.removeValue(forKey: id) else {
                    return
                }
                tree.endEffect(id)
                job()
            }
        }
    }
}
