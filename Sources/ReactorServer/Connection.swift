import DequeModule
import ReactorBytes
import ReactorCore
import ReactorWire

/// A socket's protocol state: what arrived in part, what it subscribed to, what waits to leave.
final class Connection {
    let id: ConnectionID
    let peer: Peer
    /// When it was accepted, in nanoseconds.
    let connectedAt: UInt64
    /// How many turns had ended when it was accepted.
    let connectedTurn: UInt64
    /// Whether it has a place, and is not only told that there is none.
    var isAdmitted = false
    var stage: Stage = .greeting
    var session: Session?
    var caller = Caller.daemon

    // MARK: Input
    /// When ``partial`` began to wait, in nanoseconds.
    var partialSince: UInt64 = 0
    /// When the last of ``partial`` arrived, in nanoseconds.
    var partialArrivedAt: UInt64 = 0
    /// For how long the input that is handled was held back, in nanoseconds.
    var heldFor: UInt64 = 0
    /// Bytes of whole frames received so far: the offset that errors name.
    var receivedBytes: UInt64 = 0
    var isReadingPaused = false
    /// Whether it has had its share of the turn: what else it sent waits for the next.
    var isSpent = false
    /// Frames other than new actions that were handled in the turn counted as ``frameTurn``.
    var frameCount = 0
    var frameTurn: UInt64 = 0
    var isInputEnded = false

    // MARK: Subscriptions
    /// Whether a subscription waits for its snapshot.
    var isBehind = false
    /// Whether updates were dropped: nothing is marked until every slice got a new snapshot.
    var isLagging = false

    // MARK: Output
    /// Bytes of updates in ``queue``, which may be dropped.
    var queuedUpdateBytes = 0
    /// Bytes of outcomes and answers in ``queue``, which may not.
    var queuedControlBytes = 0
    /// Actions whose outcomes have not been handed to the socket.
    var inFlight = 0
    /// Bytes of the frames of those actions.
    var inFlightBytes = 0
    /// Actions of ``inFlight`` that the turn at hand carried out.
    var turnActions = 0
    /// Bytes of the frames of those.
    var turnActionBytes = 0
    /// Questions about the past that wait for their answers.
    var inquiryCount = 0
    /// Subscriptions that wait for the journal.
    var parkedCount = 0
    /// Requests whose answers wait, or are on their way in parts.
    var questions: [UInt64] = []
    var isWriting = false
    /// The last turn that had more for it than updates.
    var urgentTurn: UInt64 = 0
    /// Whether it is listed as one that waits for updates.
    var isListed = false
    /// The turn that listed the connection last.
    var notedTurn: UInt64 = 0
    /// Sequence of the last mark.
    var markedSequence: UInt64 = 0
    /// Whether the socket closes once the queue is empty.
    var isClosing = false
    /// When it was told to go, in nanoseconds; it is not waited for for ever.
    var closingSince: UInt64?
    /// What it is told last, behind the snapshots that it is owed.
    var farewell: Closing?

    /// What every turn touches, in one place; nothing that is called while one of these is being
    /// changed comes back to the connection.
    let lane = Place(Lane())

    init(id: ConnectionID, peer: Peer, connectedAt: UInt64, connectedTurn: UInt64 = 0) {
        self.id = id
        self.peer = peer
        self.connectedAt = connectedAt
        self.connectedTurn = connectedTurn
    }

    /// Bytes that the connection keeps alive: buffers that its queue points into, and input.
    var keptBytes: Int { queue.reduce(partial.count) { $0 + $1.bytes.count } }

    /// A question was answered, or will not be.
    func endQuestion(_ number: UInt64) {
        guard let index = questions.firstIndex(of: number) else { return }
        questions.remove(at: index)
    }

    /// How far the conversation is.
    enum Stage {
        case greeting, open, closed
    }

    /// Bytes that wait to leave.
    struct Segment {
        var bytes: [UInt8]
        var range: Range<Int>
        /// The turn it is an output of: it leaves when that turn's batch is appended.
        var turn: UInt64
        var kind: Kind
        /// Actions whose outcomes end with this segment.
        var actions = 0
        /// Bytes of their frames.
        var actionBytes = 0

        /// What it counts against a budget: its bytes, and its place in the queue.
        var cost: Int { range.count + 64 }

        enum Kind {
            /// Outcomes, answers, marks: never dropped.
            case control
            /// Deltas and values: a snapshot can replace them.
            case update
            /// A snapshot: not dropped, for otherwise a slow reader would never see the end of one.
            case snapshot
        }
    }

    /// What a turn has for a connection, as places in the turn's buffers.
    struct PendingOutput {
        /// In the turn's deltas.
        var deltas = RangeList()
        /// Whole chunks: values, snapshots.
        var chunks: [(bytes: [UInt8], isSnapshot: Bool)] = []
        /// In the turn's replies.
        var replies = RangeList()
        /// In the turn's outcomes.
        var outcomes = RangeList()
        /// Bytes of ``replies`` and ``outcomes``.
        var controlBytes = 0
        /// Actions applied one after the other, not yet written as a frame.
        var run = AppliedRun(ordinal: 0, sequence: 0, count: 0)
        /// Whether an answer was announced that is as of the turn's mark.
        var isMarkAnnounced = false

        var hasUpdates: Bool { !deltas.isEmpty || !chunks.isEmpty }
    }
}

// MARK: - The lane
extension Connection {
    struct Lane {
        var partial: [UInt8] = []
        var nodes: [AnyNode?] = []
        var subscriptions: [UInt32: Subscription] = [:]
        var queue = Deque<Segment>()
        var pending = PendingOutput()
        var streams: [AnswerStream] = []
    }

    /// Input that was not handled yet: the beginning of a frame whose end has not arrived, or,
    /// while ``isReadingPaused``, whatever came before the peer stopped sending.
    var partial: [UInt8] {
        @inline(__always) _read { yield lane.value.partial }
        @inline(__always) _modify { yield &lane.value.partial }
    }

    /// Nodes by the client's numbers for them.
    var nodes: [AnyNode?] {
        @inline(__always) _read { yield lane.value.nodes }
        @inline(__always) _modify { yield &lane.value.nodes }
    }

    /// Subscriptions by slice id.
    var subscriptions: [UInt32: Subscription] {
        @inline(__always) _read { yield lane.value.subscriptions }
        @inline(__always) _modify { yield &lane.value.subscriptions }
    }

    /// What waits for the socket, in order.
    var queue: Deque<Segment> {
        @inline(__always) _read { yield lane.value.queue }
        @inline(__always) _modify { yield &lane.value.queue }
    }

    /// Large answers on their way, of which the first is sent.
    var streams: [AnswerStream] {
        @inline(__always) _read { yield lane.value.streams }
        @inline(__always) _modify { yield &lane.value.streams }
    }

    /// What the turn at hand has for this connection.
    var pending: PendingOutput {
        @inline(__always) _read { yield lane.value.pending }
        @inline(__always) _modify { yield &lane.value.pending }
    }
}

/// One slice that a connection follows.
struct Subscription {
    var slice: Slice
    /// A snapshot (or value) is owed, because deltas were dropped or none was sent yet.
    var isSnapshotOwed: Bool
    /// The owed snapshot replaces what the client kept from another history.
    var isFresh = false
    /// Whether a value that it has is brought up to date by patches.
    var takesPatches = false
}
