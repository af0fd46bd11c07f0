/// The output of a turn for all connections: buffers of which each connection gets ranges.
struct TurnOutput: ~Copyable {
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
struct ConnectionStatus {
    /// Whether the connection closes once its queue is empty.
    var isClosing = false
    /// Whether the client sends nothing more.
    var isInputEnded = false
    /// Whether the connection has a subscription.
    var hasSubscriptions = false
    /// Whether a connection with only updates has to wait for others.
    var isUpdateQueueFull = false
    /// The last turn whose outputs may leave.
    var releasedTurn: UInt64
    /// Maximum bytes of updates in the queue.
    var queueBytesMax: Int
}

/// The output of a turn for one connection, as ranges of the buffers in ``TurnOutput``.
struct PendingOutput {
    /// Ranges of the turn's deltas.
    var deltas = RangeList()
    /// Values, patches and snapshots.
    var chunks: [(bytes: [UInt8], isSnapshot: Bool)] = []
    /// Ranges of the turn's replies.
    var replies = RangeList()
    /// Ranges of the turn's outcomes.
    var outcomes = RangeList()
    /// Bytes of ``replies`` and ``outcomes`` that count as unread at once.
    var controlByteCount = 0
    /// Consecutive actions that were applied, whose frame is not written yet.
    var run = AppliedRun(ordinal: 0, sequence: 0, count: 0)
    /// Whether an announced answer requires the turn's mark.
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

    /// Cost in a queue of the updates that may be dropped.
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
    /// The turn that produced it: it leaves when that turn's batch is appended.
    var turn: UInt64
    var kind: Kind
    /// Actions whose last outcome is in this segment.
    var actions = ActionCount()

    /// What a segment costs besides its bytes.
    static let overheadByteCount = 64

    init(bytes: [UInt8], range: Range<Int>, _ turn: UInt64, _ kind: Kind) {
        self.bytes = bytes
        self.range = range
        self.turn = turn
        self.kind = kind
    }

    /// Cost of the segment in a queue, in bytes.
    var cost: Int { range.count + Self.overheadByteCount }

    /// Whether the segment may be dropped for a slow reader.
    enum Kind {
        /// Outcomes, replies, marks of a lag: never dropped.
        case control
        /// Deltas, values and marks: may be dropped, and snapshots replace them.
        case update
        /// A snapshot: never dropped, as a slow reader would otherwise never get a whole one.
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
