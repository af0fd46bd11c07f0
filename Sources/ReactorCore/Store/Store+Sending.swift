// MARK: - More ways to send
extension Store {
    /// Applies an action, and returns when all the effects that it asked for have ended; what they
    /// emitted has been applied then.
    ///
    /// A task that is cancelled meanwhile takes these effects with it. *Throws*: ``Rejection``.
    public nonisolated(nonsending) func perform(_ action: R.Action) async throws(Rejection) {
        let sequence = core.turn.sequence &+ 1
        try dispatch(action)
        await core.effectsEnd(of: sequence)
    }

    /// Drains the store whenever something waits for it, until the task is cancelled.
    ///
    ///     Task { await store.run() }
    public nonisolated(nonsending) func run() async {
        while !Task.isCancelled {
            drain()
            await core.inbox.arrival()
        }
    }
}

extension Tree {
    /// Applies a mutation of a node as a transaction of the daemon's own, without asking the
    /// reactor: for the process that holds the tree.
    public func inject<R: Reactor>(_ mutation: R.Mutation, into node: Node<R>) {
        turn.caller = .daemon
        turn.origin = .daemon
        do throws(Rejection) {
            try node.check(Mutations(mutation), turn)
            try node.record(Mutations(mutation), turn)
        } catch {
            turn.complain("\(node.path): \(error)")
        }
        finishEmission()
    }
}
