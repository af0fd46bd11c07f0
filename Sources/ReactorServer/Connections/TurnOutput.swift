/// What a turn has for all connections: buffers that each connection gets ranges of.
struct TurnOutput {
    /// Number of the turn.
    let number: UInt64
    /// Sequence of its last transaction.
    let sequence: UInt64
    /// Delta frames, then the turn's mark.
    let deltas: [UInt8]
    /// The mark in ``deltas``.
    let mark: Range<Int>
    /// Replies to requests.
    let replies: [UInt8]
    /// Outcomes of actions.
    let outcomes: [UInt8]
}

/// What the server knows of a connection at the end of a turn.
struct EnqueuePlace {
    /// Whether the connection closes once its queue is empty.
    var isClosing = false
    /// Whether the client sends nothing more.
    var isInputEnded = false
    /// Whether the connection has any subscription.
    var hasSubscriptions = false
    /// Whether a connection that gets updates alone has to wait for others.
    var isUpdateQueueFull = false
    /// The last turn whose outputs may leave.
    var releasedTurn: UInt64
    /// Most bytes of updates that the queue holds.
    var queueBytesMax: Int
}

/// What a turn has for one connection, as ranges of the buffers in ``TurnOutput``.
struct PendingOutput {
    /// Ranges of the turn's deltas.
    var deltas = RangeList()
    /// Values, patches and snapshots.
    var chunks: [(bytes: [UInt8], isSnapshot: Bool)] = []
    /// Ranges of the turn's replies.
    var replies = RangeList()
    /// Ranges of the turn's outcomes.
    var outcomes = RangeList()
    /// Bytes of ``replies`` and ``outcomes`` that count against the client at once.
    var controlByteCount = 0
    /// Actions that were applied one after the other, whose frame is not written yet.
    var run = AppliedRun(ordinal: 0, sequence: 0, count: 0)
    /// Whether an answer was announced that is as of the turn's mark.
    var isMarkAnnounced = false

    /// Empties it for the next turn.
    @inline(__always)
    mutating func clear() {
        deltas.clear()
        if !chunks.isEmpty { chunks.removeAll() }
        replies.clear()
        outcomes.clear()
        controlByteCount = 0
        run.count = 0
        isMarkAnnounced = false
    }

    var hasUpdates: Bool { !deltas.isEmpty || !chunks.isEmpty }

    /// What the updates that may be dropped will cost in a queue.
    var droppableByteCount: Int {
        chunks.reduce(deltas.byteCount + Segment.overheadByteCount * deltas.count) {
            $0 + ($1.isSnapshot ? 0 : $1.bytes.count + Segment.overheadByteCount)
        }
    }
}

/// Bytes that wait for a socket.
struct Segment {
    var bytes: [UInt8]
    var range: Range<Int>
    /// The turn that it is an output of: it leaves once that turn's batch is appended.
    var turn: UInt64
    var kind: Kind
    /// Actions whose outcomes end with this segment.
    var actions = ActionCount()

    /// What a segment costs besides its bytes.
    static let overheadByteCount = 64

    /// What it counts against a limit.
    var cost: Int { range.count + Self.overheadByteCount }

    /// What becomes of a segment in the queue of a slow reader.
    enum Kind {
        /// Outcomes, replies, marks of a lag: never dropped.
        case control
        /// Deltas, values and marks: dropped, and replaced by snapshots.
        case update
        /// A snapshot: not dropped, since a slow reader would never see the end of one.
        case snapshot
    }
}

/// A number of actions, and the bytes of their frames.
struct ActionCount: Equatable {
    var count = 0
    var byteCount = 0

    static func += (sum: inout ActionCount, more: ActionCount) {
        sum.count &+= more.count
        sum.byteCount &+= more.byteCount
    }

    static func -= (sum: inout ActionCount, less: ActionCount) {
        sum.count &-= less.count
        sum.byteCount &-= less.byteCount
    }
}
