/// Names what the actions of one client to one node started, so that it can be cancelled.
///
/// Of two clients that use the same name, neither cancels what the other's actions started.
struct CancelScope: Hashable, Sendable {
    /// The client's public number, which is the session's.
    var client: UInt64
    var name: String
}

extension Turn {
    /// Has the effects of the action at hand known as `name`, and those of that name which run at
    /// `node` cancelled, if the transaction comes to be.
    func enterScope(_ name: String, at node: AnyNode) {
        let scope = CancelScope(client: caller.client, name: name)
        cancelScope = scope
        cancel(.scoped(scope), of: node.number)
    }

    /// Refuses a name that is too long to be kept with each effect.
    static func checkScope(_ name: String) throws(StepFailure) {
        guard name.utf8.count <= CoreLimits.cancelNameBytesMax else {
            throw .rejected(
                Rejection(
                    .tooLarge,
                    "a cancel id of \(name.utf8.count) bytes, cancelNameBytesMax is "
                        + "\(CoreLimits.cancelNameBytesMax)"))
        }
    }
}

// MARK: - Actions with a cancel id
extension Tree {
    /// Carries out an action whose effects are known as `cancel`, as ``dispatch(to:_:from:by:ordinal:)``
    /// does; those that run under that name are cancelled first. Without an action behind `offset`
    /// that is all.
    public func dispatch(
        to node: AnyNode, _ bytes: Span<UInt8>, from offset: Int, by caller: Caller,
        ordinal: UInt64, cancel: String, mayWait: Bool = true
    ) -> DispatchResult {
        turn.caller = caller
        turn.origin = Origin(client: caller.client, ordinal: ordinal)
        if !mayWait { turn.refusesWaits = true }
        do throws(StepFailure) {
            try Turn.checkScope(cancel)
            turn.enterScope(cancel, at: node)
            if offset < bytes.count {
                var cursor = WireCursor(action: offset)
                try node.step(bytes, &cursor, turn)
            }
        } catch {
            turn.cancelScope = nil
            if !mayWait { turn.refusesWaits = false }
            if turn.isEventful { turn.clearRequests() }
            return .failed(error)
        }
        turn.cancelScope = nil
        if !mayWait { turn.refusesWaits = false }
        return complete()
    }
}
