/// The kind of a frame.
///
/// Kinds below 0x80 are critical: a peer that does not know one closes the connection. Kinds from
/// 0x80 are ignorable: a peer that does not know one skips it by its length.
@usableFromInline package enum FrameKind: UInt8, Sendable, CaseIterable {
    // From the client.
    /// First frame of a client: ``Hello``; `number` is ``Hello/magic``.
    case hello = 0x01
    /// Last frame of a client: the daemon forgets its session; no body.
    case goodbye = 0x02
    /// ``Open``: `id` is the number by which the client will address the node, `number` the
    /// request's.
    case open = 0x03
    /// An action for node `id`; `number` is its ordinal. The body is the action, after
    /// ``DispatchOptions`` if the flag is set.
    case dispatch = 0x04
    /// Several actions as one transaction; `number` is its ordinal, the body ``DispatchOptions``
    /// (if flagged) and an array of `[id, action]` pairs.
    case batch = 0x05
    /// ``Subscribe``; `number` is the request's.
    case subscribe = 0x06
    /// Ends the subscription to slice `id`; no body.
    case unsubscribe = 0x07
    /// The client has outcomes up to ordinal `number`, and the daemon may forget them; no body.
    case confirm = 0x08
    /// ``Question``; `number` is the request's.
    case ask = 0x09
    /// Answered by ``pong`` with the same `number`; no body.
    case ping = 0x0a

    // From the daemon.
    /// ``Welcome``: answers ``hello``.
    case welcome = 0x41
    /// ``Closing``: the daemon is about to close the connection, with the reason.
    case closing = 0x42
    /// ``Opened``: answers request `number`; `id` as in ``open``.
    case opened = 0x43
    /// ``Refusal``: request `number` was not granted.
    case refused = 0x44
    /// `id` consecutive actions from ordinal `number` on were applied without a reply. The body is
    /// one unsigned integer, the sequence of the first action; each next action has the next
    /// sequence.
    case applied = 0x45
    /// ``Outcome`` of the action with ordinal `number`.
    case outcome = 0x46
    /// ``Subscribed``: answers request `number`; `id` is the slice's.
    case subscribed = 0x47
    /// Part of the state of slice `id` at sequence `number`: see ``FrameFlags/more`` and
    /// ``FrameFlags/fresh``.
    case snapshot = 0x48
    /// The changes of one transaction, at sequence `number`, in replica slice `id`: ``Origin``,
    /// then the mutations, one after another.
    case delta = 0x49
    /// The value of slice `id` as of sequence `number`; conflated: see ``FrameFlags/more``,
    /// ``FrameFlags/absent`` and ``FrameFlags/patch``.
    case value = 0x4a
    /// Everything up to sequence `number` has been sent: the receiver applies the frames it has
    /// held back.
    case mark = 0x4b
    /// The node of slice `id` no longer exists; no body.
    case gone = 0x4c
    /// Answers request `number` of ``ask``; in parts, see ``FrameFlags/more``.
    case answer = 0x4d
    case pong = 0x4e
    /// The daemon dropped updates because the receiver was too slow; it sends a snapshot of each
    /// slice when the receiver has caught up. Outcomes before the next ``mark`` may be of later
    /// sequences than the slices show. No body.
    case lag = 0x4f
    /// The effects of the action with ordinal `number` have ended; sent if the action had
    /// ``FrameFlags/awaited``, after its outcome. No body.
    case done = 0x50
    /// ``Notice`` about the action with ordinal `number`, sent after its outcome.
    case notice = 0x80

    /// Whether a peer may skip a frame of this raw kind that it does not know.
    @inlinable package static func isIgnorable(_ kind: UInt8) -> Bool { kind >= 0x80 }
}
