import ReactorWire

// MARK: - Promises
extension TreeRecovery {
    /// Takes note that tasks had ids up to this one.
    public func skipTasks(to id: UInt64) { tree.tasks.skip(to: id) }

    /// Begins the history of `epoch` after a history that may have lost its end. Later tasks get ids
    /// that no task had there.
    public func numberTasksAnew(epoch: UInt64) { tree.tasks.begin(epoch: epoch) }

    /// Replays a change of what is promised; said again it changes nothing.
    public func replay(_ fact: TaskFact) {
        // because no other is to have the id, though nobody may be there any more who promised it
        tree.tasks.skip(to: fact.id)
        if case .done = fact { return tree.tasks.apply(fact) }
        if node(fact.node) != nil { tree.tasks.apply(fact) }
    }

    /// Makes sure that today's reactors know what is planned and promised, so that it does not fail
    /// when it is due; reads planned actions as ``Reactor/migrate(_:of:)`` makes them of older ones.
    ///
    /// *Place*: once the history is finished; for a start, not for a look at the past.
    public func checkTasks() throws(RecoveryError) {
        for fact in tree.tasks.facts {
            guard let node = tree.node(fact.node) else { continue }
            switch fact {
            case .timer(
                let number, let name, let id, let planned, let span, let period, let catchUp,
                let action):
                let read = try check(action, named: name, of: node)
                guard read != action else { continue }
                tree.tasks.apply(
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
