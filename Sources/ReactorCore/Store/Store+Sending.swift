// MARK: - More ways to send
extension Store {
    /// Applies an action, and returns when all effects that it asked for have ended and their
    /// emissions have been applied.
    ///
    /// Cancelling the task cancels these effects. *Throws*: ``Rejection``.
    public nonisolated(nonsending) func perform(_ action: R.Action) async throws(Rejection) {
        let sequence = core.turn.sequence &+ 1
        try dispatch(action)
        await core.effectsEnd(of: sequence)
    }

    /// Drains the store whenever jobs wait for it, until the task is cancelled.
    ///
    ///     Task { await store.run() }
    public nonisolated(nonsending) func run() async {
        while !Task.isCancelled {
            drain()
            await core.inbox.arrival()
        }
    }
}
