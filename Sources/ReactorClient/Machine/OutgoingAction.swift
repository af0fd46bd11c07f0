package import ReactorCore

/// An action on its way to the daemon, with all its options.
///
///     var action = OutgoingAction(Counter.Action.increment(by: 1), to: node)
///     action.awaitsEffects = true
///     try machine.submit(action) { outcome in print(outcome) }
///
/// *Place*: programs, mirrors and sagas pass it to ``ClientMachine/submit(_:then:whenKnown:)``. An
/// option of actions is a property of this type, and is encoded in one place.
package struct OutgoingAction: Sendable {
    /// The content of the frame.
    enum Content: Sendable {
        /// An encoded action for one node; no bytes if only the conditions matter.
        case one([UInt8], NodeID)
        /// Actions that form one transaction.
        case batch([(node: NodeID, action: WireEmbedded)])
    }

    let content: Content
    /// Conditions and options that travel with the action.
    package var conditions: DispatchOptions?
    /// True where the completion waits until the effects of the action have ended, and until the
    /// mirrors show what they changed.
    ///
    /// The completion does not wait for effects of sources, of streams, or of later transactions
    /// that the action caused. Until it is called, the action counts among those without an
    /// outcome.
    package var awaitsEffects = false
    /// Shows the action in a mirror until its outcome arrives.
    var preview: PreviewTicket?

    /// An encoded action.
    package init(
        encoded bytes: [UInt8], to node: NodeID, _ conditions: DispatchOptions? = nil
    ) {
        content = .one(bytes, node)
        self.conditions = conditions
    }

    /// An action of any type.
    package init(
        _ action: some WireCodable, to node: NodeID, _ conditions: DispatchOptions? = nil
    ) {
        self.init(encoded: action.wireBytes(), to: node, conditions)
    }

    /// Several actions as one transaction: all are applied, at one revision, or none is.
    package init(
        batch actions: [(node: NodeID, action: WireEmbedded)], _ conditions: DispatchOptions? = nil
    ) {
        content = .batch(actions)
        self.conditions = conditions
    }

    /// Estimated length of its frame, in bytes.
    var byteCount: Int {
        let body =
            switch content {
            case .one(let bytes, _): bytes.count
            // Each item is a pair in an array; its node number takes up to 5 bytes.
            case .batch(let actions): actions.reduce(9) { $0 + $1.action.bytes.count + 6 }
            }
        return FrameHeader.byteCount + body + (conditions?.wireBytes().count ?? 0)
    }

    /// Appends the frame of this action, numbered `ordinal`.
    ///
    /// *Throws*: ``ClientError/tooLarge(byteCount:bytesMax:)``; nothing is appended then.
    func encode(
        as ordinal: UInt64, bodyBytesMax: Int, into writer: inout WireWriter
    ) throws(ClientError) {
        var flags: FrameFlags = awaitsEffects ? .awaited : []
        if conditions != nil { flags.insert(.options) }
        let start: Int
        switch content {
        case .one(let bytes, let node):
            start = writer.beginFrame(.dispatch, flags: flags, id: node.rawValue, number: ordinal)
            conditions?.encode(into: &writer)
            writer.raw(bytes)
        case .batch(let actions):
            start = writer.beginFrame(.batch, flags: flags, number: ordinal)
            conditions?.encode(into: &writer)
            writer.array(count: actions.count)
            for (node, action) in actions {
                writer.array(count: 2)
                writer.unsigned(UInt64(node.rawValue))
                action.encode(into: &writer)
            }
        }
        writer.endFrame(at: start)
        guard writer.count - start <= bodyBytesMax + FrameHeader.byteCount else {
            throw ActionQueue.refuse(&writer, from: start, bodyBytesMax: bodyBytesMax)
        }
    }
}

/// The preview of an action that a mirror shows before the daemon answers.
///
/// *Owner*: any thread.
struct PreviewTicket: Sendable {
    /// Receives the ordinal of the action.
    let assign: @Sendable (UInt64) -> Void
    /// Ends the preview: the action has its outcome, or was never sent.
    let settle: @Sendable () -> Void
}

/// An outcome, and the callbacks that receive it.
///
/// *Owner*: ``Outbox`` returns it, and its caller calls ``deliver()`` once the outbox is no longer
/// borrowed: a callback may submit the next action.
struct Delivery {
    let ordinal: UInt64
    let outcome: ActionOutcome
    /// The preview to end.
    var preview: PreviewTicket?
    /// Receives the outcome before the effects have ended.
    var listener: AwaitedActions.Listener?
    var completion: PendingActions.Completion?
    /// The action is of an earlier run of the program.
    var isRecovered = false

    init(_ ordinal: UInt64, _ outcome: ActionOutcome) {
        self.ordinal = ordinal
        self.outcome = outcome
    }

    /// Ends the preview, then calls the listener, then the completion.
    func deliver() {
        preview?.settle()
        listener?(outcome)
        completion?(outcome)
    }
}
