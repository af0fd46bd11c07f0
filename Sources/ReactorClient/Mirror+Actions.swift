public import ReactorCore

// MARK: - Actions
extension Mirror {
    /// Sends an action and waits for nothing.
    ///
    /// Answers false, and drops the action, where the bytes that wait have reached
    /// ``ClientOptions/queueBytesMax``, the client has ended, or it has no thread of its own. An action
    /// that no frame of the daemon's can hold is dropped as well, later and without a word:
    /// ``dispatch(_:if:isPreviewed:)`` says so. It does not tell of
    /// a rejection, nor of that by a saga over this mirror whose channel is full.
    ///
    /// `isPreviewed` shows at once what the reactor's `mutate` makes of it here, until the daemon
    /// has answered; a rejection takes that back, and observers are told. An action whose decision
    /// needs the daemon is sent and not shown. With `cancel`, the effects that earlier actions of
    /// that name started are cancelled first: see ``cancel(_:)``.
    @discardableResult
    public func send(
        _ action: R.Action, isPreviewed: Bool = false, cancel: String? = nil
    ) -> Bool {
        guard let port, let hold else { return false }
        let bytes = action.wireBytes()
        let conditions = cancel.map { DispatchOptions(cancel: $0) }
        let ticket = isPreviewed ? preview(action) : nil
        return port.send(
            bytes.count, conditions, preview: ticket,
            submission(of: action, bytes, to: hold, conditions, ticket))
    }

    /// Sends an action and waits for its outcome; the mirror shows it when this returns.
    ///
    /// Waits for room where ``ClientOptions/queueBytesMax`` is reached. `expected` makes it a
    /// compare-and-set: it is rejected with `CONFLICT` if the node has changed since that revision.
    /// A cancelled task gets ``DispatchOutcome/unknown``: the action may still be applied.
    /// `isPreviewed` is as in ``send(_:isPreviewed:cancel:)``.
    public func dispatch(
        _ action: R.Action, if expected: Revision? = nil, isPreviewed: Bool = false
    ) async -> DispatchOutcome<R.Reply> {
        let conditions = expected.map { DispatchOptions(expected: $0) }
        return await dispatch(action, conditions, isPreviewed: isPreviewed)
    }

    /// Sends an action under conditions and waits for its outcome.
    public func dispatch(
        _ action: R.Action, _ conditions: DispatchOptions?, isPreviewed: Bool = false
    ) async -> DispatchOutcome<R.Reply> {
        guard let port, let hold else {
            return .failed(message: "never sent: dispatch through the LoopClient of this mirror")
        }
        let bytes = action.wireBytes()
        let ticket = isPreviewed ? preview(action) : nil
        let outcome = await port.dispatch(
            bytes.count, conditions, preview: ticket,
            submission(of: action, bytes, to: hold, conditions, ticket))
        return outcome.typed(as: R.Reply.self)
    }

    private func submission(
        of action: R.Action, _ bytes: [UInt8], to hold: NodeHold, _ conditions: DispatchOptions?,
        _ ticket: PreviewTicket?
    ) -> ActionPort.Submission {
        { [sagas] (client, then) throws(ClientError) in
            try sagas.pass(action, preview: ticket, orElse: then) { (note) throws(ClientError) in
                try client.dispatch(
                    encoded: bytes.span, to: hold.node, conditions, preview: ticket
                ) { outcome in
                    hold.keep()
                    note(outcome)
                    then(outcome)
                }
            }
        }
    }

    /// Sends an action, and returns its outcome when the effects that it asked for have ended; the
    /// mirror shows then what they changed.
    ///
    /// Those are the effects of the action's own transaction, however many: not a source, a stream,
    /// or what followed in transactions of its own. Where the action is rejected, or asked for
    /// none, or they are cancelled, this returns at once. One that fails ends like any other, and
    /// is told in ``Client/notices``. A lost connection is waited out; the effects end with the
    /// daemon, and with an outcome that was told before it went this returns that.
    ///
    /// A cancelled task gets ``DispatchOutcome/unknown``, and the effects go on: cancel them with
    /// ``cancel(_:)``. `expected` and `isPreviewed` are as in ``dispatch(_:if:isPreviewed:)``.
    public func perform(
        _ action: R.Action, if expected: Revision? = nil, isPreviewed: Bool = false
    ) async -> DispatchOutcome<R.Reply> {
        let conditions = expected.map { DispatchOptions(expected: $0) }
        return await perform(action, conditions, isPreviewed: isPreviewed)
    }

    /// Sends an action under conditions, and returns its outcome when its effects have ended.
    public func perform(
        _ action: R.Action, _ conditions: DispatchOptions?, isPreviewed: Bool = false
    ) async -> DispatchOutcome<R.Reply> {
        guard let port, let hold else {
            return .failed(message: "never sent: perform through the LoopClient of this mirror")
        }
        let bytes = action.wireBytes()
        let ticket = isPreviewed ? preview(action) : nil
        let outcome = await port.dispatch(bytes.count, conditions, preview: ticket) {
            [sagas] (client, then) throws(ClientError) in
            try sagas.pass(action, preview: ticket, orElse: then) { (note) throws(ClientError) in
                try client.perform(
                    encoded: bytes.span, to: hold.node, conditions, preview: ticket, noting: note
                ) { outcome in
                    hold.keep()
                    then(outcome)
                }
            }
        }
        return outcome.typed(as: R.Reply.self)
    }

    /// Cancels what earlier actions of this client to this node started under `name`, and waits for
    /// the outcome. What a cancelled effect still emits is dropped.
    @discardableResult
    public func cancel(_ name: String) async -> DispatchOutcome<R.Reply> {
        guard let port, let hold else {
            return .failed(message: "never sent: dispatch through the LoopClient of this mirror")
        }
        let conditions = DispatchOptions(cancel: name)
        let outcome = await port.dispatch(0, conditions) { (client, then) throws(ClientError) in
            let nothing: [UInt8] = []
            try client.dispatch(encoded: nothing.span, to: hold.node, conditions) { outcome in
                hold.keep()
                then(outcome)
            }
        }
        return outcome.typed(as: R.Reply.self)
    }
}

// MARK: - Root reactors
extension Mirror {
    /// Sends an action of any type to a root reactor and waits for its outcome; see
    /// ``dispatch(_:if:isPreviewed:)``.
    public func dispatch<State>(
        _ action: some WireCodable & Sendable, if expected: Revision? = nil,
        isPreviewed: Bool = false
    ) async -> DispatchOutcome<R.Reply> where R == RootReactor<State> {
        await dispatch(ErasedAction(action), if: expected, isPreviewed: isPreviewed)
    }

    /// Sends an action of any type to a root reactor and waits for nothing; see
    /// ``send(_:isPreviewed:cancel:)``.
    @discardableResult
    public func send<State>(
        _ action: some WireCodable & Sendable, isPreviewed: Bool = false, cancel: String? = nil
    ) -> Bool where R == RootReactor<State> {
        send(ErasedAction(action), isPreviewed: isPreviewed, cancel: cancel)
    }
}
