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

    /// Lets a stream work until it ends or the node is torn down, once there is room for it; answers
    /// false where the stage is none.
    func openStream<Value: Sendable>(
        _ run: TransformRun<Value>, _ stage: Int, _ gate: StreamGate<Value>, _ turn: Turn,
        _ arrive: @escaping Arrive<Value>
    ) -> Bool {
        guard case .stream(let change) = run.stages[stage] else { return false }
        let run = Confined(run)
        work(turn) { deliver in
            try await change(gate.values, deliver)
        } ended: { node, turn in
            run.open().closed(stage) { stage, gate in
                node.openStream(run.open(), stage, gate, turn, arrive)
            }
        } arrive: {
            arrive($0, $1, $2)
        }
        return true
    }

    private func work<Value: Sendable>(
        _ turn: Turn,
        _ body: @escaping @Sendable (@escaping Transform<Value>.Deliver) async throws -> Void,
        ended: @escaping @Sendable (Node<R>, Turn) -> Void = { _, _ in },
        arrive: @escaping Arrive<Value>
    ) {
        let tree = turn.tree
        let id = tree.newEffectID(of: self)
        let hasReturned = Flag()
        tree.list(
            RunningEffect(origin: .daemon, sequence: turn.lastSequence &+ 1, isSource: true),
            as: id)
        let post = tree.environment.post
        let window = SourceWindow()
        let deliver: Transform<Value>.Deliver = { value in
            guard let place = await window.place() else { return false }
            post { tree in
                guard place.arrive(), tree.running[id] != nil,
                    let node = tree.node(id.node) as? Node<R>
                else {
                    tree.dropLate(of: id, hasReturned)
                    return place.window.end()
                }
                tree.turn.caller = .daemon
                tree.turn.origin = .daemon
                arrive(node, value, tree.turn)
            }
            return true
        }
        turn.whenCommitted { [self] in
            tree.begin(id) {
                tree.launch(id, on: self, raising: hasReturned) {
                    defer {
                        post { tree in
                            guard let node = tree.node(id.node) as? Node<R> else { return }
                            ended(node, tree.turn)
                        }
                    }
                    try await body(deliver)
                }
            }
        } orElse: { [self] in
            tree.endEffect(id)
            ended(self, turn)
        }
    }
}

extension Tree {
    /// Runs `job` on the tree's isolation after a while, unless `node` is gone by then; what it
    /// dispatches are transactions of their own. Answers nil where as many jobs wait as may.
    func run<R: Reactor>(
        _ job: @escaping () -> Void, after pause: Duration, for node: Node<R>, origin: Origin
    ) -> EffectID? {
        guard let id = admitEffect(of: node) else { return nil }
        list(RunningEffect(origin: origin, sequence: 0), as: id)
        jobs[id] = job
        let clock = environment.clock
        let post = environment.post
        launch(id, on: node, raising: Flag()) {
            try await clock.sleep(for: pause)
            post { tree in
                guard tree.running[id] != nil, let job = tree.jobs.removeValue(forKey: id) else {
                    return
                }
                tree.endEffect(id)
                job()
            }
        }
        return id
    }
}
