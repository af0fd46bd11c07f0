public import ReactorCore
public import ReactorWire

/// What a turn decided besides its deltas, as it rests beside them in the journal.
///
/// *Shape*: the facts of a turn are CBOR items, one behind the other, in the order in which they
/// came about. *Place*: ``Recovery`` makes sessions of them again, and who looks at history learns
/// who did what.
@WireCodable
public enum TurnFact: Equatable, Sendable {
    /// Actions with consecutive ordinals from `ordinal` on were applied at consecutive sequences from
    /// `sequence` on, without replies; `frames` are their frames as they came.
    case run(
        by: ActionSource, ordinal: UInt64, sequence: UInt64, count: UInt64, nodes: [NodeAlias],
        frames: [UInt8])
    /// An action came that was not plain; `frame` is its frame as it came. What became of it follows
    /// as a fact of its own, in this turn or a later one.
    case action(by: ActionSource, ordinal: UInt64, nodes: [NodeAlias], frame: [UInt8])
    /// An action came that was refused, and was larger than ``ServerLimits/refusedBytesMax``: `frame`
    /// of ``action(by:ordinal:nodes:frame:)`` had `byteCount` bytes with this `WireChecksum`.
    case refused(
        by: ActionSource, ordinal: UInt64, nodes: [NodeAlias], byteCount: UInt64,
        checksum: UInt64)
    /// What became of an action.
    case outcome(client: UInt64, ordinal: UInt64, is: Outcome)
    /// A session has its first action from here on.
    case session(client: UInt64, secret: [UInt8], uid: UInt32)
    /// A session's client has said goodbye.
    case goodbye(client: UInt64)
    /// A session had to make room; its client may still come back, and is told.
    case evicted(client: UInt64)
    /// Who owns what has changed.
    case ownership(OwnershipFact)
    /// What is planned and promised has changed.
    case task(TaskFact)
    /// The numbers and reactors of the static nodes, where a daemon starts, with the states that the
    /// rows before do not lead to: of new nodes, and of those whose types have changed.
    case layout([KeptPlace])
    /// What a child that the turn's deltas create begins with, and what is below it.
    case made([KeptPlace])
    /// These nodes were probed as of the turn's end; their sums follow in a later turn.
    case probe([ProbedNode])
    /// The checksums of the states that were probed last.
    case sums([UInt64])
    /// States were put in the place of those at hand, by an import and no action: `nodes` are
    /// `SavedNode`s, one behind the other. The row begins an epoch.
    case replaced([UInt8])
}

/// Who sent actions, as the kernel says.
@WireCodable
public struct ActionSource: Equatable, Sendable {
    /// The client's public number.
    public var client: UInt64
    /// The connection's number.
    public var connection: UInt64
    /// User.
    public var uid: UInt32
    /// Group.
    public var gid: UInt32
    /// Process.
    public var pid: Int32

    init(_ caller: Caller) {
        client = caller.client
        connection = caller.connection
        uid = caller.uid
        gid = caller.gid
        pid = caller.pid
    }
}

/// Which node a connection's frames mean by which number.
@WireCodable
public struct NodeAlias: Equatable, Sendable {
    /// The number in the frames.
    public var id: UInt32
    /// The node's own.
    public var node: UInt32
}

extension TurnFact {
    /// Reads the facts of a turn.
    public static func list(_ bytes: Span<UInt8>) throws(WireError) -> [TurnFact] {
        var facts: [TurnFact] = []
        var cursor = WireCursor()
        while cursor.offset < bytes.count { facts.append(try TurnFact.decode(bytes, &cursor)) }
        return facts
    }
}
