// MARK: - Ending a transaction
extension Turn {
    /// Executes the requests of the current transaction; its followers are `depth` steps below the
    /// action that started the chain.
    func settle(depth: Int) {
        guard !transaction.wishes.isEmpty else { return }
        if !transaction.wishes.derived.isEmpty { settleDerived() }
        for change in transaction.wishes.ownerships { apply(change) }
        for task in transaction.wishes.tasks { tree.tasks.record(task) }
        for cancellation in transaction.wishes.cancellations { tree.effects.cancel(cancellation) }
        for id in transaction.wishes.cancelled { tree.effects.cancel(id) }
        for work in transaction.wishes.followers {
            followers.append(Follower(work: work, origin: transaction.origin, depth: depth))
        }
        for node in transaction.wishes.leaving { tree.forget(node) }
        record(removed: transaction.wishes.leaving, transaction.wishes.answers)
        transaction.wishes.clear()
    }

    /// Applies a change of ownership.
    private func apply(_ fact: OwnershipFact) {
        tree.ownership.apply(fact)
        record(.ownership(fact))
    }

    /// Records when `node` and the nodes above it changed last, for a roll-back.
    func saveSequences(of node: AnyNode) {
        var saved: [(node: AnyNode, sequence: UInt64)] = []
        var next: AnyNode? = node
        while let node = next {
            saved.append((node, node.sequence))
            next = node.parent
        }
        undo.add { for entry in saved { entry.node.restore(sequence: entry.sequence) } }
    }

    /// Runs `body` as a reversible transaction, and rolls it back if it refuses.
    func reversibly(_ body: () throws(Rejection) -> Void) throws(Rejection) {
        let mark = beginReversible()
        do throws(Rejection) {
            try body()
        } catch {
            rollBack(to: mark)
            throw error
        }
        endReversible()
    }

    /// Throws the refusal of a reaction that found no free capacity.
    func checkRefusal() throws(Rejection) {
        if let refusal = undo.takeRefusal() { throw refusal }
    }

    /// Runs `body`, which may refuse; a refusal withdraws the claims that it has made.
    ///
    /// In a batch, the roll-back withdraws them.
    func attempt(_ body: () throws(Rejection) -> Void) throws(Rejection) {
        guard !undo.isRecording else { return try body() }
        let effectCount = effects.count
        let claimCount = undo.beginAttempt()
        defer { undo.endAttempt(after: claimCount) }
        do throws(Rejection) {
            try body()
        } catch {
            dropEffects(after: effectCount)
            while let withdraw = undo.popClaim(after: claimCount) { withdraw() }
            throw error
        }
    }

    // MARK: Limits of a transaction

    func check(_ mutationCount: Int) throws(Rejection) {
        guard mutationCount <= CoreLimits.mutationsMax else {
            throw Rejection(
                .tooLarge,
                "\(mutationCount) mutations, at most \(CoreLimits.mutationsMax) fit a transaction")
        }
    }

    /// Refuses a name that is too long to be stored with each effect.
    static func checkScope(_ name: String) throws(StepFailure) {
        guard name.utf8.count <= CoreLimits.cancelNameBytesMax else {
            throw .rejected(
                Rejection(
                    .tooLarge,
                    "a cancel id of \(name.utf8.count) bytes, cancelNameBytesMax is "
                        + "\(CoreLimits.cancelNameBytesMax)"))
        }
    }

    // MARK: Requests of a transaction

    /// Gives the effects of the current action the name `name`, and cancels the running effects of
    /// that name at `node` when the transaction is applied.
    func enterScope(_ name: String, at node: AnyNode) {
        let scope = CancelScope(client: transaction.caller.client, name: name)
        transaction.name(scope)
        cancel(.scoped(scope), of: node.number)
    }

    /// Cancels effects of a node if the current transaction is applied.
    func cancel(_ selection: EffectSelection, of node: UInt32, upTo last: UInt64? = nil) {
        transaction.wishes.request(
            .cancellation(
                EffectCancellation(
                    node: node, selection: selection, last: last ?? tree.effects.lastNumber)))
    }

    /// Reports the client's action as accepted: it went into a stream of the addressed reactor.
    func accept() {
        if !isSending, !isReacting { transaction.wishes.request(.acceptance) }
    }

    /// Refuses a sent action that defers the answer to the client's action.
    func refuseDeferral(of node: AnyNode) {
        let refusal = Rejection(
            .deferred,
            "\(node.path): only the reactor that a client addresses can defer the answer; have that "
                + "one defer it, or dispatch a follower")
        if undo.isRecording, isSending { undo.refuse(refusal) } else { complain("\(refusal)") }
    }

    /// Records that the current decision read information that only the daemon has.
    func askDaemon() {
        if isPreview { transaction.askDaemon() }
    }

    // MARK: Keyed children

    /// Creates a child in a collection, in the current transaction; does nothing if it exists.
    func create(_ key: WireKey, in collection: AnyNode) throws(Rejection) {
        guard collection.children[key] == nil else { return }
        try collection.checkCreation(of: key, tree.nodes.count)
        try collection.checkTwin(of: key, after: [:])
        guard let child = collection.makeChild(key, number: tree.nodes.newNumber()) else { return }
        child.setBirth(transaction.sequence)
        if undo.isRecording { saveSequences(of: collection) }
        tree.insert(child, named: key)
        undo.weighNew(child)
        if undo.isRecording {
            undo.add { [self] in
                collection.removeChild(key)
                dropCreation(of: child.number)
                tree.dissolve(child)
            }
        }
        record(.create(key: key, number: child.number, parts: child.parts()), of: collection)
        if recordsFacts {
            record(.made(child.kept()))
            // The next layout need not hold the state of each child that came before it.
            child.visit { $0.keep() }
        }
        child.touch(self)
        if collection.isSource { derive(collection.feeds, from: child) }
        child.beginAll(self)
        collection.childrenChanged(
            ChildrenChange(collection: collection, key: key, isCreation: true), self)
    }

    /// Removes a child of a collection, in the current transaction.
    func remove(_ key: WireKey, from collection: AnyNode) {
        guard let child = collection.children[key] else { return }
        undo.weighBranch(child)
        record(.remove(key: key), of: collection)
        if undo.isRecording { saveSequences(of: child) }
        child.touch(self)
        collection.removeChild(key)
        tree.unmount(child)
        if collection.isSource { derive(collection.feeds, from: child) }
        if undo.isRecording {
            undo.add { [self] in
                collection.attach(child, named: key)
                tree.remount(child)
            }
        }
        collection.childrenChanged(
            ChildrenChange(collection: collection, key: key, isCreation: false), self)
    }
}
