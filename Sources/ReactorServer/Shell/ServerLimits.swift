import ReactorCore
import ReactorWire

/// The limits of a daemon. Every queue, count and size that a client can cause has a limit here.
public struct ServerLimits: Equatable, Sendable {
    /// Maximum body of a client's frame in bytes. A header with a larger length closes the
    /// connection.
    public var frameBytesMax = WireLimits.frameBytesMax
    /// Maximum number of simultaneous connections. A further one gets BUSY and is closed.
    public var connectionsMax = 1_024
    /// Maximum number of simultaneous connections of one uid.
    public var connectionsPerUIDMax = 256
    /// Number of connections reserved for the daemon's own user, so that its operator can always
    /// connect; at most half of ``connectionsMax``.
    public var ownerConnectionsReserved = 4
    /// Maximum number of connections without a hello. For a further one, the oldest of the user
    /// with the most of them is closed.
    public var handshakesMax = 64
    /// Nanoseconds that a connection has for its hello.
    public var handshakeDeadline: UInt64 = 5_000_000_000
    /// Nanoseconds from a frame's first byte to its last.
    public var partialFrameDeadline: UInt64 = 30_000_000_000
    /// Nanoseconds that a closing client has to read its remaining output.
    public var closeDeadline: UInt64 = 5_000_000_000
    /// Maximum number of subscriptions of one connection.
    public var subscriptionsPerConnectionMax = 256
    /// Maximum number of subscriptions of one uid's connections together.
    public var subscriptionsPerUIDMax = 4_096
    /// Maximum number of different selections of children that all connections follow.
    public var selectionsMax = 1_024
    /// Maximum number of different selections that one uid's connections were the first to follow.
    public var selectionsPerUIDMax = 256
    /// Bytes of the sort keys of all selections above which a further selection is refused.
    public var selectionBytesMax = 256 << 20
    /// Maximum number of open nodes of one connection.
    public var nodesPerConnectionMax = 4_096
    /// Maximum number of sessions; above it the session that has been disconnected longest is
    /// evicted.
    public var sessionsMax = 4_096
    /// Maximum number of sessions of one uid; above it the session that has been disconnected
    /// longest is evicted.
    public var sessionsPerUIDMax = 1_024
    /// Maximum bytes of outcomes kept for all disconnected sessions; above it the session with the
    /// most is evicted.
    public var outcomeBytesMax = 256 << 20
    /// Maximum number of outcomes kept per session, as runs and exceptions, until the client
    /// confirms them.
    public var outcomesPerSessionMax = 16_384
    /// Maximum bytes of outcomes with a text or a reply kept per session; the oldest are dropped
    /// first.
    public var outcomeBytesPerSessionMax = 4 << 20
    /// Maximum text of a rejection, a refusal or a fault in bytes; longer texts are cut.
    public var messageBytesMax = 1_024
    /// Maximum bytes of a refused action that the journal stores whole; of a larger one it stores
    /// the size and a checksum.
    public var refusedBytesMax = 4 << 10
    /// Maximum number of actions without an outcome; above it the server reads nothing from the
    /// client until outcomes have left.
    public var inFlightMax = 1_024
    /// Maximum bytes of one connection's actions without an outcome; above it the server reads
    /// nothing more from it until outcomes have left.
    public var inFlightBytesMax = 4 << 20
    /// Maximum bytes of turns that wait for the journal; above it the server reads from no client
    /// that sends actions until the journal has caught up.
    public var unreleasedBytesMax = 64 << 20
    /// Maximum bytes of one user's actions that wait for the journal while another user is
    /// connected; above it the server reads from none of the user's clients until the journal has
    /// caught up. One action may exceed it.
    public var unreleasedBytesPerUIDMax = 512 << 10
    /// Maximum number of a connection's frames that one turn handles, apart from new actions, which
    /// ``inFlightMax`` limits; the rest waits until the other connections were read.
    public var framesPerTurnMax = 1_024
    /// Maximum bytes of updates queued for one connection; above it they are dropped, and one
    /// snapshot replaces them.
    public var queueBytesMax = 1 << 20
    /// Maximum bytes of outcomes and answers queued for one connection; above it the server reads
    /// nothing more from it.
    public var undrainedBytesMax = 64 << 10
    /// Maximum bytes of recent deltas kept for clients that reconnect, counted in whole blocks of at
    /// most 64 KiB.
    public var ringBytesMax = 16 << 20
    /// Maximum bytes of recent deltas that are searched, and sent, for one slice of a client that
    /// reconnects; above it the client gets a snapshot.
    public var resumeBytesMax = 4 << 20
    /// Maximum number of subscriptions that wait for deltas from the journal; a further one gets a
    /// snapshot.
    public var parkedRequestsMax = 64
    /// Maximum bytes of encoded snapshots kept for further subscribers, besides the newest.
    public var snapshotCacheBytesMax = 64 << 20
    /// Maximum bytes of large answers in progress, each counted once for all its connections; above
    /// it, requests for large answers wait.
    public var answersBytesMax = 256 << 20
    /// Maximum bytes of answers that are encoded on the loop in one turn. A larger answer is
    /// encoded on another thread, one after another; further small ones wait for the next turn.
    public var answerBytesPerTurnMax = 64 << 10
    /// Nanoseconds after which a large answer that its client does not read is ended with BUSY, if
    /// others wait for the room.
    public var answerDeadline: UInt64 = 5_000_000_000
    /// Maximum number of one connection's requests that wait for their answers; above it the server
    /// reads nothing more until half of them are answered.
    public var questionsPerConnectionMax = 64
    /// Maximum number of one uid's unanswered queries that need a second tree; a further one is
    /// refused as BUSY. One is processed at a time, and takes about as long as a start. Also the
    /// maximum number of answers larger than ``answerBytesPerTurnMax`` that its connections read at
    /// a time; further ones wait.
    public var heavyPerUIDMax = 4
    /// Maximum bytes of one write to a connection's socket.
    public var writeBytesMax = 256 << 10
    /// Maximum number of actions in a batch.
    public var batchActionsMax = 1_024
    /// Maximum number of simultaneous effects, including cancelled ones that have not ended. An
    /// action that requests more is rejected as BUSY; an effect that cannot be refused waits.
    public var effectsMax = CoreLimits.effectsMax
    /// The process's memory in bytes at which actions that make states larger are rejected as
    /// MEMORY_FULL; 0 for no ceiling. The shell measures the process: see ``MemoryPressure``.
    public var memoryMax = 0
    /// The encoded bytes of all states at which actions that make states larger are rejected as
    /// MEMORY_FULL, as a number or as a share of ``memoryMax``; 0 bytes, or a share of no ceiling,
    /// for no limit. See `StateCeiling` for how they are counted.
    public var stateBytesMax = ByteShare.percent(50)
    /// Bytes of input, output, answers and outcomes that the clients of one uid keep together; above
    /// it, the heaviest of its connections is closed. 0 for no limit.
    public var memoryPerUIDMax = 0
    /// Nanoseconds that the actions and requests of one uid may take in a turn while another user is
    /// connected; the rest of its input waits until the input of the others was read.
    public var turnTimePerUID: UInt64 = 2_000_000
    /// Nanoseconds during which an equal fault of a peer is not logged again. A peer is a uid and a
    /// pid; equal faults have the same code.
    public var logInterval: UInt64 = 10_000_000_000
    /// Maximum number of faults that are remembered for ``logInterval``; above it new ones are only
    /// counted.
    public var loggedFaultsMax = 256

    /// The default limits.
    public init() {}

    /// ``stateBytesMax`` in bytes; 0 for no limit.
    package var stateByteCountMax: Int { stateBytesMax.byteCount(of: memoryMax) }

    /// Bytes that one connection keeps alive at most: its input, its queues, its answers, and the
    /// outcomes of its session.
    package var connectionBytesMax: Int {
        frameBytesMax + inFlightBytesMax + undrainedBytesMax + queueBytesMax + writeBytesMax
            + outcomeBytesPerSessionMax
    }

    /// Bytes that the server keeps for all clients together at most, apart from states and from what
    /// each connection keeps.
    package var sharedBytesMax: Int {
        ringBytesMax + snapshotCacheBytesMax + answersBytesMax + unreleasedBytesMax
            + selectionBytesMax + outcomeBytesMax
    }

    /// Every limit by its name, for the answer to ``Question/limits``.
    var named: [String: UInt64] {
        [
            "frameBytesMax": UInt64(frameBytesMax),
            "connectionsMax": UInt64(connectionsMax),
            "connectionsPerUIDMax": UInt64(connectionsPerUIDMax),
            "ownerConnectionsReserved": UInt64(ownerConnectionsReserved),
            "handshakesMax": UInt64(handshakesMax),
            "handshakeDeadlineNanoseconds": handshakeDeadline,
            "partialFrameDeadlineNanoseconds": partialFrameDeadline,
            "subscriptionsPerConnectionMax": UInt64(subscriptionsPerConnectionMax),
            "subscriptionsPerUIDMax": UInt64(subscriptionsPerUIDMax),
            "selectionsMax": UInt64(selectionsMax),
            "selectionsPerUIDMax": UInt64(selectionsPerUIDMax),
            "selectionBytesMax": UInt64(selectionBytesMax),
            "selectionDepthMax": UInt64(WireLimits.selectionDepthMax),
            "selectionTermsMax": UInt64(WireLimits.selectionTermsMax),
            "selectionOrdersMax": UInt64(WireLimits.selectionOrdersMax),
            "selectionFirstMax": UInt64(WireLimits.selectionFirstMax),
            "nodesPerConnectionMax": UInt64(nodesPerConnectionMax),
            "sessionsMax": UInt64(sessionsMax),
            "sessionsPerUIDMax": UInt64(sessionsPerUIDMax),
            "outcomeBytesMax": UInt64(outcomeBytesMax),
            "outcomesPerSessionMax": UInt64(outcomesPerSessionMax),
            "closeDeadlineNanoseconds": closeDeadline,
            "outcomeBytesPerSessionMax": UInt64(outcomeBytesPerSessionMax),
            "messageBytesMax": UInt64(messageBytesMax),
            "refusedBytesMax": UInt64(refusedBytesMax),
            "inFlightMax": UInt64(inFlightMax),
            "inFlightBytesMax": UInt64(inFlightBytesMax),
            "unreleasedBytesMax": UInt64(unreleasedBytesMax),
            "unreleasedBytesPerUIDMax": UInt64(unreleasedBytesPerUIDMax),
            "framesPerTurnMax": UInt64(framesPerTurnMax),
            "queueBytesMax": UInt64(queueBytesMax),
            "undrainedBytesMax": UInt64(undrainedBytesMax),
            "ringBytesMax": UInt64(ringBytesMax),
            "resumeBytesMax": UInt64(resumeBytesMax),
            "parkedRequestsMax": UInt64(parkedRequestsMax),
            "snapshotCacheBytesMax": UInt64(snapshotCacheBytesMax),
            "answersBytesMax": UInt64(answersBytesMax),
            "answerBytesPerTurnMax": UInt64(answerBytesPerTurnMax),
            "answerDeadlineNanoseconds": answerDeadline,
            "questionsPerConnectionMax": UInt64(questionsPerConnectionMax),
            "heavyPerUIDMax": UInt64(heavyPerUIDMax),
            "writeBytesMax": UInt64(writeBytesMax),
            "batchActionsMax": UInt64(batchActionsMax),
            "effectsMax": UInt64(effectsMax),
            "memoryMax": UInt64(memoryMax),
            "stateBytesMax": UInt64(stateByteCountMax),
            "memoryPerUIDMax": UInt64(memoryPerUIDMax),
            "turnTimePerUIDNanoseconds": turnTimePerUID,
            "logIntervalNanoseconds": logInterval,
            "loggedFaultsMax": UInt64(loggedFaultsMax),
            "depthMax": UInt64(WireLimits.depthMax),
            "actionDepthMax": UInt64(WireLimits.actionDepthMax),
            "pathBytesMax": UInt64(WireLimits.pathBytesMax),
            "mutationsMax": UInt64(CoreLimits.mutationsMax),
            "deltaBytesMax": UInt64(CoreLimits.deltaBytesMax),
            "followerDepthMax": UInt64(CoreLimits.followerDepthMax),
            "followersMax": UInt64(CoreLimits.followersMax),
            "effectsWaitingMax": UInt64(CoreLimits.effectsWaitingMax),
            "sagasMax": UInt64(CoreLimits.sagasMax),
        ]
    }
}
