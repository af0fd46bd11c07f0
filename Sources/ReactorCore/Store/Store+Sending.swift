// MARK: - More ways to send
extension Store {
    /// Applies an action, and lets nobody know where it is refused.
    public func send(_ action: R.Action) {
        // because whoever wants to know calls `dispatch`
        dispatch(action) { _ in }
    }

    /// Applies an action, and returns when all the effects that it asked for have ended; what they
    /// emitted has been applied then.
    ///
    /// A task that is cancelled meanwhile takes these effects with it. *Throws*: ``Rejection``.
    public nonisolated(nonsending) func perform(_ action: R.Action) async throws(Rejection) {
        let sequence = core.turn.sequence &+ 1
        try dispatch(action)
        await core.effectsEnd(of: sequence)
    }

    /// Applies a mutation without asking anybody: `mutate` and the transforms of mutations are
    /// passed over. For the process that owns the store, and for no client.
    public func inject(_ mutation: R.Mutation) {
        core.perform { [node] tree in tree.inject(mutation, into: node) }
    }

    /// Dispatches what `source` yields, until the token goes; neither its end nor its failure ends
    /// anything else.
    public func connect<Source: AsyncSequence & Sendable>(_ source: Source) -> StoreToken
    where Source.Element == R.Action {
        let handle = handle
        let cancel = core.tree.environment.spawn {
            // because a source that fails has ended, and that is all the store needs to know
            try? await handle.sendAll(source)
        }
        return StoreToken(cancel)
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

extension StoreHandle {
    fileprivate func sendAll<Source: AsyncSequence & Sendable>(
        _ source: Source
    ) async throws where Source.Element == R.Action {
        for try await action in source { send(action) }
    }

    /// Hands over a mutation; see ``Store/inject(_:)``.
    public func inject(_ mutation: R.Mutation) {
        inbox.post { tree in
            guard let node = tree.root as? Node<R> else { return }
            tree.inject(mutation, into: node)
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
