package import ReactorCore
package import ReactorWire

/// A fact of a turn that the journal stores beside the turn's deltas.
///
/// *Shape*: the facts of a turn are CBOR items, one after the other, in the order of their
/// creation. *Place*: ``Recovery`` restores sessions from them, and the log shows which client sent
/// which action.
@WireCodable
package enum TurnFact: Equatable, Sendable {
    /// Actions with consecutive ordinals from `ordinal` on were applied at consecutive sequences
    /// from `sequence` on, without replies. `frames` are their frames as they arrived.
    case run(
        by: ActionSource, ordinal: UInt64, sequence: UInt64, count: UInt64, nodes: [NodeAlias],
        frames: [UInt8])
    /// An action arrived that is not part of a run; `frame` is its frame as it arrived. Its outcome
    /// follows as a separate fact, in this turn or a later one.
    case action(by: ActionSource, ordinal: UInt64, nodes: [NodeAlias], frame: [UInt8])
    /// A refused action arrived that was larger than ``ServerLimits/refusedBytesMax``: `frame`
    /// of ``action(by:ordinal:nodes:frame:)`` had `byteCount` bytes with this `WireChecksum`.
    case refused(
        by: ActionSource, ordinal: UInt64, nodes: [NodeAlias], byteCount: UInt64,
        checksum: UInt64)
    /// The outcome of an action.
    case outcome(client: UInt64, ordinal: UInt64, is: Outcome)
    /// A session has its first action in this turn.
    case session(client: UInt64, secret: [UInt8], uid: UInt32)
    /// A session's client has said goodbye.
    case goodbye(client: UInt64)
    /// A session was evicted to make room. If its client reconnects, it learns that.
    case evicted(client: UInt64)
    /// An ownership changed.
    case ownership(OwnershipFact)
    /// A durable task or a lease changed.
    case task(TaskFact)
    /// The schemas of reactors whose values this row and later ones have in a form that the history
    /// does not record before, or not as the last of that name and fingerprint.
    case schemas([KeptSchema])
    /// The numbers and reactors of the static nodes, where a daemon starts, with the states that the
    /// rows before do not lead to: of new nodes, and of those whose types have changed.
    case layout([NodeRecord])
    /// What a child that the turn's deltas create begins with, and what is below it.
    case made([NodeRecord])
    /// These nodes were probed as of the turn's end; their sums follow in a later turn.
    case probe([ProbedNode])
    /// The checksums of the last probe.
    case sums([UInt64])
    /// An import replaced states without an action. `nodes` are `SavedNode`s, one after the other.
    /// The row begins an epoch.
    case replaced([UInt8])

    // Facts that are recorded only where other daemons follow: their clients learn them from the
    // rows.

    /// An applied action has failed in part, such as an effect of it.
    case notice(client: UInt64, ordinal: UInt64, code: String, message: String)
    /// The effects of an action have ended, and its client asked to learn that.
    case done(client: UInt64, ordinal: UInt64)
    /// The daemon with this number begins to lead, in a term of the cluster. The effects of the
    /// former leading daemon have ended with it.
    case term(node: UInt8, term: UInt64)
    /// The leading daemon decides nothing more, so that the named one leads next, or any.
    case stepDown(to: UInt8?)
}

/// The sender of actions, as the kernel reports it.
@WireCodable
package struct ActionSource: Equatable, Sendable {
    /// The client's public number.
    package var client: UInt64
    /// The connection's number.
    package var connection: UInt64
    /// User.
    package var uid: UInt32
    /// Group.
    package var gid: UInt32
    /// Process.
    package var pid: Int32

    init(_ caller: Caller) {
        client = caller.client
        connection = caller.connection
        uid = caller.uid
        gid = caller.gid
        pid = caller.pid
    }
}

extension TurnFact {
    /// Reads the facts of a turn.
    package static func list(_ bytes: Span<UInt8>) throws(WireError) -> [TurnFact] {
        var facts: [TurnFact] = []
        var cursor = WireCursor()
        while cursor.offset < bytes.count { facts.append(try TurnFact.decode(bytes, &cursor)) }
        return facts
    }
}
