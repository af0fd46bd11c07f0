import ReactorCore
import ReactorWire

/// What one daemon allows its clients. Every queue, count and size that a client can drive is limited
/// here.
public struct ServerLimits: Equatable, Sendable {
    /// Longest body of a client's frame in bytes; a longer one is refused from its header.
    public var frameBytesMax = WireLimits.frameBytesMax
    /// Most connections at a time; the next gets BUSY and is closed.
    public var connectionsMax = 1_024
    /// Most connections of one uid at a time.
    public var connectionsPerUIDMax = 256
    /// Connections that are reserved for the daemon's own user, so that its operator can always
    /// connect; at most half of ``connectionsMax``.
    public var ownerConnectionsReserved = 4
    /// Most connections that have not said hello yet; for one more, the oldest of the user with the
    /// most of them is closed.
    public var handshakesMax = 64
    /// Nanoseconds within which a connection says hello.
    public var handshakeDeadline: UInt64 = 5_000_000_000
    /// Nanoseconds within which a frame that was begun is complete.
    public var partialFrameDeadline: UInt64 = 30_000_000_000
    /// Nanoseconds within which a client that is being closed takes what it is still sent.
    public var closeDeadline: UInt64 = 5_000_000_000
    /// Most subscriptions of one connection.
    public var subscriptionsPerConnectionMax = 256
    /// Most subscriptions of one uid's connections together.
    public var subscriptionsPerUIDMax = 4_096
    /// Most nodes that one connection holds open.
    public var nodesPerConnectionMax = 4_096
    /// Most sessions; beyond it the session that has been disconnected longest is evicted.
    public var sessionsMax = 4_096
    /// Most sessions of one uid; beyond it the one of them that has been disconnected longest is
    /// evicted.
    public var sessionsPerUIDMax = 1_024
    /// Bytes of outcomes that are kept for all disconnected sessions; beyond it the one with the most
    /// is evicted.
    public var outcomeBytesMax = 256 << 20
    /// Most outcomes kept per session, as runs and exceptions, until the client confirms them.
    public var outcomesPerSessionMax = 16_384
    /// Bytes of outcomes with a text or a reply that are kept per session; the oldest go first.
    public var outcomeBytesPerSessionMax = 4 << 20
    /// Longest text of a rejection, a refusal or a fault in bytes; the rest is cut.
    public var messageBytesMax = 1_024
    /// Bytes of a refused action up to which the journal keeps it whole; of a larger one it keeps the
    /// size and a checksum.
    public var refusedBytesMax = 4 << 10
    /// Most actions without an outcome; from a client that sends more nothing is read until
    /// outcomes have left.
    public var inFlightMax = 1_024
    /// Bytes of one connection's actions without an outcome above which nothing more is read from it
    /// until outcomes have left.
    public var inFlightBytesMax = 4 << 20
    /// Bytes of turns that wait for the journal above which the server reads from no client until the
    /// journal has caught up.
    public var unreleasedBytesMax = 64 << 20
    /// Most frames of one connection that are handled in a turn, apart from new actions, which
    /// ``inFlightMax`` limits; the rest waits until the other connections were read.
    public var framesPerTurnMax = 1_024
    /// Most bytes of updates queued for one connection; beyond it they are dropped, and one
    /// snapshot replaces them.
    public var queueBytesMax = 1 << 20
    /// Bytes of outcomes and answers queued for one connection above which nothing more is read
    /// from it.
    public var undrainedBytesMax = 64 << 10
    /// Bytes of recent deltas kept for clients that come back.
    public var ringBytesMax = 16 << 20
    /// Bytes of recent deltas that are searched, and sent, for one slice of a client that comes
    /// back; beyond them it gets a snapshot.
    public var resumeBytesMax = 4 << 20
    /// Most subscriptions that wait for deltas from the journal; one more gets a snapshot.
    public var parkedRequestsMax = 64
    /// Bytes of encoded snapshots kept for further subscribers, besides the newest.
    public var snapshotCacheBytesMax = 64 << 20
    /// Bytes of large answers that are under way, each counted once for all connections that are sent
    /// it, above which no further one is encoded: questions for large answers wait.
    public var answersBytesMax = 256 << 20
    /// Bytes of answers that are encoded on the loop in one turn; what is larger is encoded beside it,
    /// one answer after another, and further small ones wait for the next turn.
    public var answerBytesPerTurnMax = 64 << 10
    /// Nanoseconds after which a large answer that its reader does not take is ended with BUSY where
    /// others wait for the room.
    public var answerDeadline: UInt64 = 5_000_000_000
    /// Most questions of one connection that wait for their answers; nothing more is read from it
    /// until half of them are answered.
    public var questionsPerConnectionMax = 64
    /// Most bytes handed to one connection's socket in one write.
    public var writeBytesMax = 256 << 10
    /// Most actions of one batch.
    public var batchActionsMax = 1_024
    /// Most effects at a time, cancelled ones that have not ended included; an action that asks for
    /// more is rejected as BUSY, and what cannot be refused waits.
    public var effectsMax = CoreLimits.effectsMax
    /// Nanoseconds for which a peer's fault is not logged again; a peer is a uid and a pid, and a
    /// fault its code.
    public var logInterval: UInt64 = 10_000_000_000
    /// Most faults that are remembered for ``logInterval``; beyond it new ones are not logged,
    /// and counted only.
    public var loggedFaultsMax = 256

    /// The default limits.
    public init() {}

    /// Every limit by its name, for the answer to ``Ask/limits``.
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
            "writeBytesMax": UInt64(writeBytesMax),
            "batchActionsMax": UInt64(batchActionsMax),
            "effectsMax": UInt64(effectsMax),
            "logIntervalNanoseconds": logInterval,
            "loggedFaultsMax": UInt64(loggedFaultsMax),
            "depthMax": UInt64(WireLimits.depthMax),
            "actionDepthMax": UInt64(WireLimits.actionDepthMax),
            "pathBytesMax": UInt64(WireLimits.pathBytesMax),
            "mutationsMax": UInt64(CoreLimits.mutationsMax),
            "deltaBytesMax": UInt64(CoreLimits.deltaBytesMax),
            "followerDepthMax": UInt64(CoreLimits.followerDepthMax),
            "followersMax": UInt64(CoreLimits.followersMax),
        ]
    }
}
