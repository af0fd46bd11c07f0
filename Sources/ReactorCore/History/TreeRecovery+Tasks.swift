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
        guard let node = node(fact.node) else { return }
        tree.tasks.restore(fact)
        if case .timer = fact { recordPlan(fact.id, of: node) }
    }

    /// Checks that the types of today's reactors have no mistakes in their versions, and that the
    /// reactors can perform every pending task, so that it does not fail when it is due. Converts
    /// older planned actions.
    ///
    /// *Place*: after ``finish(epoch:sequence:)``, before a start; not for a query about the past.
    package func checkTasks() throws(RecoveryError) {
        for refusal in HistoryConversions.mistakes(in: tree) {
            guard let survey else { throw refusal }
            survey.record(refusal)
        }
        for fact in tree.tasks.facts {
            guard let node = tree.node(fact.node) else { continue }
            switch fact {
            case .timer(
                let number, let name, let id, let due, let span, let period, let catchUp, let action
            ):
                let read: WireEmbedded
                do {
                    let converted = try conversions.convert(
                        action, of: node, kept: keptSchema(ofTask: id))
                    read = try node.readKept(converted)
                    survey?.record(action, due: due, of: node, kept: keptSchema(ofTask: id))
                } catch {
                    let refusal = RecoveryError(
                        "the planned action \(name.quoted()) of \(node.reactorName)", of: node,
                        error)
                    guard let survey else { throw refusal }
                    survey.record(
                        action, due: due, of: node, kept: keptSchema(ofTask: id), refusal)
                    continue
                }
                guard read != action else { continue }
                tree.tasks.restore(
                    .timer(
                        node: number, name: name, id: id, planned: due, span: span, period: period,
                        catchUp: catchUp, action: read))
            case .effect(_, let name, let id, let payload):
                guard !node.performs(DurableTask(name: name, id: id, payload: payload)) else {
                    continue
                }
                let refusal = RecoveryError.unperformed(
                    path: node.path.description, reactor: node.reactorName, task: name)
                guard let survey else { throw refusal }
                survey.record(refusal)
            case .done: break
            }
        }
    }
}
