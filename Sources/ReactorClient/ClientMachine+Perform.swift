public import ReactorCore

// MARK: - Actions whose effects are awaited
extension ClientMachine {
    /// Sends an action; `completion` is told what became of it when the effects that it asked for
    /// have ended, and what they changed is shown.
    ///
    /// Those of sources, of streams and of what followed in transactions of its own are not waited
    /// for. The action counts as one without an outcome until then.
    /// *Throws*: as ``dispatch(_:to:then:)``.
    public func perform<Action: WireCodable>(
        _ action: Action, to node: NodeID, _ conditions: DispatchOptions? = nil,
        then completion: @escaping (ActionOutcome) -> Void
    ) throws(ClientError) {
        let bytes = action.wireBytes()
        try perform(encoded: bytes.span, to: node, conditions, then: completion)
    }

    /// Sends an action that is encoded already, and waits for its effects.
    public func perform(
        encoded action: Span<UInt8>, to node: NodeID, _ conditions: DispatchOptions? = nil,
        then completion: @escaping (ActionOutcome) -> Void
    ) throws(ClientError) {
        try perform(encoded: action, to: node, conditions, noting: nil, then: completion)
    }

    /// Sends an action that `mirror` shows at once, until its outcome comes, and waits for its
    /// effects.
    public func perform<R: Reactor>(
        _ action: R.Action, previewedOn mirror: Mirror<R>, to node: NodeID,
        _ conditions: DispatchOptions? = nil, then completion: @escaping (ActionOutcome) -> Void
    ) throws(ClientError) {
        let bytes = action.wireBytes()
        try perform(
            encoded: bytes.span, to: node, conditions, preview: mirror.preview(action),
            noting: nil, then: completion)
    }

    /// As above; `listener` is told the outcome when it comes. `ticket` is settled before that, or
    /// where this throws.
    func perform(
        encoded action: Span<UInt8>, to node: NodeID, _ conditions: DispatchOptions?,
        preview ticket: PreviewTicket?, noting listener: AwaitedActions.Listener?,
        then completion: @escaping (ActionOutcome) -> Void
    ) throws(ClientError) {
        guard let ticket else {
            return try perform(
                encoded: action, to: node, conditions, noting: listener, then: completion)
        }
        ticket.assign(pending.next)
        do throws(ClientError) {
            try perform(encoded: action, to: node, conditions) { [unowned self] outcome in
                previewCount -= 1
                ticket.settle()
                listener?(outcome)
            } then: {
                completion($0)
            }
            previewCount += 1
        } catch {
            ticket.settle()
            throw error
        }
    }

    private func perform(
        encoded action: Span<UInt8>, to node: NodeID, _ conditions: DispatchOptions?,
        noting listener: AwaitedActions.Listener?,
        then completion: @escaping (ActionOutcome) -> Void
    ) throws(ClientError) {
        let ordinal = pending.next
        try place(
            .dispatch, flags: conditions == nil ? .awaited : [.awaited, .options], to: node,
            with: action, then: completion
        ) { writer, action in
            conditions?.encode(into: &writer)
            writer.raw(action)
        }
        awaited.add(ordinal, listener)
    }
}

// MARK: - Outcomes of awaited actions
extension ClientMachine {
    /// Keeps an outcome whose action is waited for until that is done; answers whether it is one.
    func keep(_ outcome: ActionOutcome, of ordinal: UInt64) -> Bool {
        guard awaited.contains(ordinal) else { return false }
        awaited.note(outcome, of: ordinal)?(outcome)
        return true
    }

    /// The same for an action that was applied without a reply.
    func keep(_ ordinal: UInt64, appliedAt sequence: UInt64) -> Bool {
        let revision = Revision(epoch: welcome?.epoch ?? 0, sequence: sequence)
        return keep(.applied(revision, reply: nil), of: ordinal)
    }

    /// The effects of an action have ended.
    func noteDone(_ header: FrameHeader) throws(ClientFault) {
        try checkOrdinal(header.number, 1)
        guard !mustHold else { return try hold(.done(ordinal: header.number)) }
        end(header.number)
    }

    /// Tells the outcome of an action whose effects have ended.
    func end(_ ordinal: UInt64) {
        // because what was asked for on an earlier connection may have been given up
        guard let outcome = awaited.outcome(of: ordinal) else { return }
        conclude(ordinal, finally: outcome)
    }

    /// Tells the last word on an action.
    func conclude(_ ordinal: UInt64, finally outcome: ActionOutcome) {
        if !awaited.isEmpty { awaited.remove(ordinal)?(outcome) }
        if case .told(let completion) = pending.take(ordinal) { completion(outcome) }
    }
}
