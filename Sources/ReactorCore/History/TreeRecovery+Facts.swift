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
        recordForm(ofTask: fact.id, of: node)
    }

    /// Checks that the types of today's reactors have no mistakes in their versions, and that the
    /// reactors can perform every pending task, so that it does not fail when it is due. Converts
    /// planned actions and payloads of earlier versions.
    ///
    /// *Place*: after ``finish(epoch:sequence:)``, before a start; not for a query about the past.
    package func checkTasks() throws(RecoveryError) {
        for refusal in HistoryConversions.mistakes(in: tree) { try refuse(refusal) }
        for fact in tree.tasks.facts {
            guard let node = tree.node(fact.node) else { continue }
            switch fact {
            case .timer(
                let number, let name, let id, let due, let span, let period, let catchUp, let action
            ):
                guard let read = try readPlan(action, fact, due: due, of: node) else { continue }
                guard read != action else { continue }
                tree.tasks.restore(
                    .timer(
                        node: number, name: name, id: id, planned: due, span: span, period: period,
                        catchUp: catchUp, action: read))
            case .effect(let number, let name, let id, let payload):
                guard let read = try readPayload(payload, fact, of: node) else { continue }
                if read != payload {
                    tree.tasks.restore(
                        .effect(node: number, name: name, id: id, payload: read))
                }
                let task = DurableTask(name: name, id: id, payload: KeptPayload(read))
                guard !node.performs(task, tree.turn) else { continue }
                try refuse(
                    .unperformed(
                        path: node.path.description, reactor: node.reactorName, task: name))
            case .done: break
            }
        }
    }

    private func refuse(_ refusal: RecoveryError) throws(RecoveryError) {
        guard let survey else { throw refusal }
        survey.record(refusal)
    }

    /// The planned action of a timer, converted and encoded by today's type; `nil` if a survey has
    /// recorded that it cannot be read.
    private func readPlan(
        _ action: WireEmbedded, _ fact: TaskFact, due: Int64, of node: AnyNode
    ) throws(RecoveryError) -> WireEmbedded? {
        let kept = keptSchema(ofTask: fact.id)
        do {
            let read = try node.readKept(
                conversions.convert(action, .action, of: node, kept: kept))
            survey?.record(action, due: due, of: node, kept: kept)
            return read
        } catch {
            let refusal = RecoveryError(
                "the planned action \(fact.name.quoted()) of \(node.reactorName)", of: node, error)
            guard let survey else { throw refusal }
            survey.record(action, due: due, of: node, kept: kept, refusal)
            return nil
        }
    }

    /// The payload of a durable task, converted and encoded by today's type; `nil` if a survey has
    /// recorded that it cannot be read.
    private func readPayload(
        _ payload: WireEmbedded, _ fact: TaskFact, of node: AnyNode
    ) throws(RecoveryError) -> WireEmbedded? {
        guard let declared = DurableTaskKind.declared(for: fact.name, in: node.taskKinds) else {
            survey?.record(uncompared: fact.name, of: node)
            return payload
        }
        let kept = keptSchema(ofTask: fact.id)
        let kind = HistoryKind.task(declared.name)
        survey?.compare(kept, with: node, in: [kind])
        do {
            return try node.readKept(
                conversions.convert(payload, kind, of: node, kept: kept), of: declared)
        } catch {
            let refusal = RecoveryError(
                "the payload of the durable task \(fact.name.quoted()) of \(node.reactorName)",
                of: node, error)
            guard let survey else { throw refusal }
            survey.record(refusal, kind, of: node)
            return nil
        }
    }
}

// MARK: - Schemas, ownerships and probes
extension TreeRecovery {
    /// Adds schemas that the history records.
    package func learn(_ schemas: [KeptSchema]) {
        for schema in schemas { tree.schemas.add(schema) }
    }

    /// The schemas in which the history has the node's values at this point; `nil` where it does
    /// not record them.
    package func keptSchema(of node: AnyNode) -> KeptSchema? {
        let form = forms.form(of: node)
        return tree.schemas.find(form.name, form.fingerprint)
    }

    /// The schemas of its reactor under which the task `id` was recorded; `nil` where the history
    /// does not record them.
    package func keptSchema(ofTask id: UInt64) -> KeptSchema? { forms.schema(ofTask: id) }

    /// Replays a change of ownership. Idempotent.
    package func replay(_ fact: OwnershipFact) {
        if case .own(let number, _, _, _) = fact, node(number) == nil { return }
        switch fact {
        case .own(let number, _, _, _), .disown(let number, _, _): node(number)?.redo(fact)
        case .end(let connection):
            for owned in tree.ownership.take(connection: connection) {
                for key in owned.keys {
                    node(owned.node)?.redo(
                        .disown(node: owned.node, key: key, connection: connection))
                }
            }
        }
        tree.ownership.apply(fact)
    }

    // MARK: Probes
    /// Takes the probe that the daemon took at this point of the history.
    package func probe(_ nodes: [ProbedNode]) {
        hold(
            HeldProbe(
                sequence: tree.turn.sequence,
                nodes: nodes.map { probed in
                    guard let node = node(probed.number), node.fingerprint == probed.fingerprint
                    else { return nil }
                    return (node.path.description, node.copyState())
                }))
    }

    /// Compares the last probe with the recorded sums. Returns whether a state was compared.
    ///
    /// *Throws*: ``RecoveryError/diverged(path:sequence:)``.
    package func compare(_ sums: [UInt64]) throws(RecoveryError) -> Bool {
        // The replay may have started from a snapshot between a probe and its sums.
        guard let held else { return false }
        hold(nil)
        var isCompared = false
        for (probed, sum) in zip(held.nodes, sums) {
            guard let probed else { continue }
            isCompared = true
            guard WireChecksum.of({ probed.encode(&$0) }).value != sum else { continue }
            let refusal = RecoveryError.diverged(path: probed.path, sequence: held.sequence)
            guard let survey else { throw refusal }
            // Where values are left out, states differ.
            if survey.isComplete { survey.record(refusal) }
        }
        return isCompared
    }

    /// Forgets a probe whose sums are not in the history.
    package func dropProbe() { hold(nil) }
}
