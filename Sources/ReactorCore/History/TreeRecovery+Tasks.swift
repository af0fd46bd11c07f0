import ReactorWire

// MARK: - Durable tasks
extension TreeRecovery {
    /// Records that ids up to this one are in use.
    package func skipTasks(to id: UInt64) { tree.tasks.skip(to: id) }

    /// Starts the history of `epoch` after a history that may have lost its end: later tasks get
    /// ids that no task had there.
    package func renumberTasks(epoch: UInt64) { tree.tasks.begin(epoch: epoch) }

    /// Replays a task fact. Idempotent.
    package func replay(_ fact: TaskFact) {
        // The id stays in use, even if the task's node no longer exists.
        tree.tasks.skip(to: fact.id)
        if case .done = fact { return tree.tasks.restore(fact) }
        if node(fact.node) != nil { tree.tasks.restore(fact) }
    }

    /// Checks that today's reactors can perform every pending task, so that it does not fail when
    /// it is due. Converts older planned actions with ``Reactor/migrate(_:of:)``.
    ///
    /// *Place*: after ``finish(epoch:sequence:)``, before a start; not for a query about the past.
    package func checkTasks() throws(RecoveryError) {
        for fact in tree.tasks.facts {
            guard let node = tree.node(fact.node) else { continue }
            switch fact {
            case .timer(
                let number, let name, let id, let planned, let span, let period, let catchUp,
                let action):
                let read = try check(action, named: name, of: node)
                guard read != action else { continue }
                tree.tasks.restore(
                    .timer(
                        node: number, name: name, id: id, planned: planned, span: span,
                        period: period, catchUp: catchUp, action: read))
            case .effect(_, let name, let id, let payload):
                guard !node.performs(DurableTask(name: name, id: id, payload: payload)) else {
                    continue
                }
                throw .unperformed(
                    path: node.path.description, reactor: node.reactorName, task: name)
            case .done: break
            }
        }
    }

    private func check(
        _ action: WireEmbedded, named name: String, of node: AnyNode
    ) throws(RecoveryError) -> WireEmbedded {
        do throws(WireError) {
            return try node.readKept(action)
        } catch {
            throw .unreadable(
                path: node.path.description,
                what: "the planned action \(name.quoted()) of \(node.reactorName)", error)
        }
    }
}
