public import ReactorCore

// MARK: - Actions
extension Mirror {
    /// Sends an action and waits for nothing.
    ///
    /// Answers false, and drops the action, where the bytes that wait have reached
    /// ``ClientOptions/queueBytesMax``, the client has ended, or it has no thread of its own.
    @discardableResult
    public func send(_ action: R.Action) -> Bool {
        guard let port, let node else { return false }
        return port.send(action.wireBytes(), to: node)
    }

    /// Sends an action and waits for its outcome; the mirror shows it when this returns.
    ///
    /// Waits for room where ``ClientOptions/queueBytesMax`` is reached. `expected` makes it a
    /// compare-and-set: it is rejected with `CONFLICT` if the node has changed since that revision.
    /// A cancelled task gets ``DispatchOutcome/unknown``: the action may still be applied.
    public func dispatch(
        _ action: R.Action, if expected: Revision? = nil
    ) async -> DispatchOutcome<R.Reply> {
        let conditions = expected.map { DispatchOptions(expected: $0) }
        return await dispatch(action, conditions)
    }

    /// Sends an action under conditions and waits for its outcome.
    public func dispatch(
        _ action: R.Action, _ conditions: DispatchOptions?
    ) async -> DispatchOutcome<R.Reply> {
        guard let port, let node else {
            return .failed(message: "never sent: dispatch through the LoopClient of this mirror")
        }
        let bytes = action.wireBytes()
        let outcome = await port.dispatch(bytes.count, conditions) {
            (client, then) throws(ClientError) in
            try client.dispatch(encoded: bytes.span, to: node, conditions, then: then)
        }
        return outcome.typed(as: R.Reply.self)
    }
}
