public import ReactorCore
import ReactorThreads

/// An action that a mirror shows before it is answered, on its way through the client.
///
/// *Owner*: any thread.
struct PreviewTicket: Sendable {
    /// Says by which ordinal the action was sent.
    let assign: @Sendable (UInt64) -> Void
    /// Shows the action no more: it has its outcome, or was never sent.
    let settle: @Sendable () -> Void
}

extension Mirror {
    /// Shows an action before it is answered; none where it cannot be previewed.
    func preview(_ action: R.Action) -> PreviewTicket? {
        guard let (number, changes) = replica.withLock({ $0.tryOut(action) }) else { return nil }
        notices.publish(changes)
        // because the outcome may come when nobody holds the mirror any more
        let replica = replica
        let notices = notices
        return PreviewTicket(
            assign: { ordinal in
                replica.withLock { $0.sent(preview: number, as: ordinal) }
            },
            settle: {
                let changes = replica.withLock { replica in
                    replica.settle(preview: number) ? replica.takeOverlayChanges() : .fields([])
                }
                notices.publish(changes)
            })
    }
}

// MARK: - In the machine
extension ClientMachine {
    /// Sends an action that `mirror` shows at once, until its outcome is told.
    ///
    /// *Throws*: as ``dispatch(_:to:then:)``; nothing is shown then.
    public func dispatch<R: Reactor>(
        _ action: R.Action, previewedOn mirror: Mirror<R>, to node: NodeID,
        _ conditions: DispatchOptions? = nil, then completion: ((ActionOutcome) -> Void)? = nil
    ) throws(ClientError) {
        let bytes = action.wireBytes()
        let ticket = mirror.preview(action)
        try dispatch(
            encoded: bytes.span, to: node, conditions, preview: ticket, then: completion)
    }

    /// Sends an encoded action; `ticket` is settled before `completion` is told, or where this
    /// throws.
    func dispatch(
        encoded action: Span<UInt8>, to node: NodeID, _ conditions: DispatchOptions?,
        preview ticket: PreviewTicket?, then completion: ((ActionOutcome) -> Void)?
    ) throws(ClientError) {
        guard let ticket else {
            return try dispatch(encoded: action, to: node, conditions, then: completion)
        }
        ticket.assign(pending.next)
        do throws(ClientError) {
            try dispatch(encoded: action, to: node, conditions) { [unowned self] outcome in
                previewCount -= 1
                ticket.settle()
                completion?(outcome)
            }
            previewCount += 1
        } catch {
            ticket.settle()
            throw error
        }
    }

    /// The last action of this client that an update contains for certain: those before it, and
    /// before those whose outcomes are known, were carried out first.
    func contained(in origin: Origin) -> UInt64 {
        origin.client == welcome?.client ? max(origin.ordinal, processed) : processed
    }
}
