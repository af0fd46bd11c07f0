import ReactorBytes
import ReactorThreads

// MARK: - Background work of a reactor
extension Node {
    /// Handles a value from a source or a stream.
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

    /// Runs a stream until it ends or the node is torn down, once there is capacity for it. Returns
    /// false if the stage is not a stream.
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
        let effects = turn.tree.effects
        let id = effects.newID(of: self)
        let report = LateReport()
        effects.list(
            RunningEffect(origin: .daemon, sequence: turn.transaction.sequence, isSource: true),
            as: id)
        let post = effects.environment.post
        let window = SourceWindow()
        let deliver: Transform<Value>.Deliver = { value in
            guard let ticket = await window.ticket() else { return false }
            post { tree in
                guard ticket.arrive(), tree.effects.running[id] != nil,
                    let node = tree.node(id.node) as? Node<R>
                else {
                    tree.effects.dropLate(of: id, report)
                    return ticket.window.end()
                }
                tree.turn.transaction.begin(by: .daemon, .daemon)
                arrive(node, value, tree.turn)
            }
            return true
        }
        turn.whenCommitted { [self] in
            effects.start(id) { [self] in
                effects.launch(id, on: self, raising: report.hasReturned) {
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
            effects.end(id)
            ended(self, turn)
        }
    }

    // MARK: Start and failures

    /// Lets the reactor decide its start. Returns whether it asked for anything.
    func beginReactor(_ turn: Turn) -> Bool {
        guard turn.tree.isOpen else { return false }
        openSources(turn)
        openStreams(turn)
        for saga in reactor.sagas { saga.begin(self, turn.tree) }
        var isDecided = false
        turn.starting {
            let mutations = reactor.start(state: state, context: ReactorContext(turn, self))
            isDecided = mutations.requestsAny
            if isDecided { commit(mutations, turn) }
        }
        return isDecided || !turn.transaction.wishes.isEmpty
    }

    /// Starts the reactor again, from its current state.
    func restartReactor(_ turn: Turn) {
        let before = fault
        if turn.undo.isRecording { turn.undo.add { [self] in setFault(before) } }
        setFault(nil)
        turn.cancel(.all, of: number)
        _ = beginReactor(turn)
    }

    private func openSources(_ turn: Turn) {
        guard let rules else { return }
        for source in rules.actions?.sources ?? [] {
            openSource(source, turn) { $0.arrive(action: $1, from: source.stage, $2) }
        }
        for source in rules.mutations?.sources ?? [] {
            openSource(source, turn) { $0.arrive(mutation: $1, from: source.stage, $2) }
        }
        for source in rules.states?.sources ?? [] {
            openSource(source, turn) { $0.arrive(state: $1, from: source.stage, $2) }
        }
        if rules.states != nil { present(state, turn) }
    }

    /// Lets the reactor decide its reaction to an error, and its parent if the reactor does
    /// nothing.
    func fail(_ failure: any Error, _ cause: R.Action?, origin: Origin, _ turn: Turn) {
        turn.transaction.begin(by: .daemon, origin)
        let mutations = reactor.error(
            failure, action: cause, state: state, context: ReactorContext(turn, self))
        if !commitReaction(mutations, cause, turn) { passOn(failure, turn) }
    }

    /// Lets the reactor decide its reaction to the end of one of its sagas, and its parent if the
    /// reactor does nothing and the saga does not start again.
    func sagaFailed(_ failure: SagaFailure, _ turn: Turn) {
        turn.transaction.begin(by: .daemon, .daemon)
        let mutations = reactor.sagaFailed(
            failure, state: state, context: ReactorContext(turn, self))
        if commitReaction(mutations, nil, turn) || failure.restartsAfter != nil { return }
        passOn(failure.error, turn)
    }

    /// Commits a reaction to an error. Returns false if it is empty and requests nothing.
    func commitReaction(
        _ mutations: Mutations<R.Mutation>, _ cause: R.Action?, _ turn: Turn
    ) -> Bool {
        guard mutations.requestsAny || !turn.transaction.wishes.isEmpty else { return false }
        if mutations.requestsAny { commit(mutations, turn, cause: cause) }
        turn.tree.finishEmission()
        return true
    }

    private func passOn(_ failure: any Error, _ turn: Turn) {
        setFault("\(failure)")
        parent?.childFailed(ChildFailure(child: self, error: failure), turn)
    }

    // MARK: Durable tasks

    /// The effect that performs a task. The function that returns it is not part of a transaction,
    /// and a start calls it to find out whether there is one: what it requests is dropped.
    func effect(of task: DurableTask, _ turn: Turn) -> Effect<R.Mutation> {
        turn.transaction.begin(by: .daemon, .daemon)
        let effect = reactor.perform(task, state: state, context: ReactorContext(turn, self))
        if !turn.transaction.wishes.isEmpty {
            turn.transaction.wishes.clear()
            turn.complain(
                "\(path): dropped what perform requested by its context for task \(task.name): "
                    + "request it in mutate")
        }
        return effect
    }

    // MARK: Mutations from elsewhere

    /// Applies a mutation that no action has decided.
    func inject(_ mutation: R.Mutation, _ turn: Turn) {
        do throws(Rejection) {
            try check(Mutations(mutation), turn)
            try record(Mutations(mutation), turn)
        } catch {
            turn.complain("\(path): \(error)")
        }
    }

    /// Reduces mutations in an older form, and appends them in today's.
    func redoOlder(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor, into writer: inout WireWriter
    ) throws(WireError) {
        while cursor.offset < bytes.count {
            let mutation: R.Mutation
            let start = cursor
            do throws(WireError) {
                mutation = try R.Mutation.decode(bytes, &cursor)
            } catch {
                cursor = start
                mutation = try migrated(bytes, &cursor, of: .mutation, instead: error)
            }
            mutation.encode(into: &writer)
            reactor.reduce(state: &cell.value, mutation: mutation)
        }
    }

    /// Shows the result of the state transform for the current state. A streamed transform shows
    /// the state itself, as after a recovery: its streams run only in the process that decides.
    func showRedone(_ turn: Turn) {
        guard let rules, let states = rules.states else { return }
        if states.isStreamed { rules.show(state) } else { present(state, turn) }
    }

    /// Reads a value that today's types cannot read, through ``Reactor/migrate(_:of:)``.
    ///
    /// *Throws*: `error`, if the reactor does not convert it, or converts it to another unreadable
    /// value.
    @usableFromInline
    func migrated<Value: WireCodable>(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor, of kind: HistoryKind,
        instead error: WireError
    ) throws(WireError) -> Value {
        guard let old = try? WireValue.decode(bytes, &cursor),
            let new = R.migrate(old, of: kind)
        else { throw error }
        return try Value(keptBytes: new.wireBytes().span)
    }
}
