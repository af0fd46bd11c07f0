import ReactorServer
import ReactorWire

/// The limits that an operator may set: name, meaning and range of each.
///
/// *Place*: ``ConfigLimits`` reads `limits:` by it, the summary shows it; the values and their
/// defaults are those of `ServerLimits`, whose stored properties it names one for one.
enum LimitTable {
    /// One limit.
    struct Entry: Sendable {
        /// The key under `limits:`, which is the property's name.
        let name: String
        /// What is limited and what happens at the limit, in one line.
        let summary: String
        let slot: Slot
    }

    /// Where a limit's value lies, its unit and its range.
    enum Slot: Sendable {
        case count(any WritableKeyPath<ServerLimits, Int> & Sendable, ClosedRange<Int>)
        case bytes(any WritableKeyPath<ServerLimits, Int> & Sendable, ClosedRange<Int>)
        /// Stored as nanoseconds.
        case duration(
            any WritableKeyPath<ServerLimits, UInt64> & Sendable, ClosedRange<Duration>)
    }

    /// Every limit, in the order in which they are shown.
    static let entries: [Entry] = connections + clients + memory

    /// Pairs of which the first never exceeds the second.
    static let nested: [(inner: String, outer: String)] = [
        ("connectionsPerUIDMax", "connectionsMax"), ("handshakesMax", "connectionsMax"),
    ]

    /// The entry with a name.
    static func entry(named name: String) -> Entry? { entries.first { $0.name == name } }

    /// A limit's value as it is written in the file.
    static func text(of entry: Entry, in limits: ServerLimits) -> String {
        switch entry.slot {
        case .count(let path, _): "\(limits[keyPath: path])"
        case .bytes(let path, _): ByteSizeText.format(limits[keyPath: path])
        case .duration(let path, _):
            DurationText.format(.nanoseconds(Int64(clamping: limits[keyPath: path])))
        }
    }

    private static let connections: [Entry] = [
        Entry(
            name: "frameBytesMax",
            summary: "largest frame body; a larger one costs its sender the connection",
            slot: .bytes(\.frameBytesMax, 4 << 10...64 << 20)),
        Entry(
            name: "connectionsMax", summary: "connections at one time; more are told BUSY",
            slot: .count(\.connectionsMax, 1...1_000_000)),
        Entry(
            name: "connectionsPerUIDMax",
            summary: "connections of one user at one time; more are told BUSY",
            slot: .count(\.connectionsPerUIDMax, 1...1_000_000)),
        Entry(
            name: "ownerConnectionsReserved",
            summary: "connections that only the daemon's own user may take, to look after it",
            slot: .count(\.ownerConnectionsReserved, 0...1_000)),
        Entry(
            name: "handshakesMax",
            summary: "connections that have not said hello yet; for one more the oldest goes",
            slot: .count(\.handshakesMax, 1...65_536)),
        Entry(
            name: "handshakeDeadline",
            summary: "time to say hello; a connection that takes longer is closed",
            slot: .duration(\.handshakeDeadline, .milliseconds(10) ... .seconds(3_600))),
        Entry(
            name: "closeDeadline",
            summary: "time for a client that is closed to take what it is still told",
            slot: .duration(\.closeDeadline, .milliseconds(10) ... .seconds(3_600))),
        Entry(
            name: "partialFrameDeadline",
            summary: "time from a frame's first byte to its last; then the connection is closed",
            slot: .duration(\.partialFrameDeadline, .milliseconds(10) ... .seconds(3_600))),
    ]

    private static let clients: [Entry] = [
        Entry(
            name: "subscriptionsPerConnectionMax",
            summary: "subscriptions of one connection; more are refused",
            slot: .count(\.subscriptionsPerConnectionMax, 1...1_000_000)),
        Entry(
            name: "subscriptionsPerUIDMax",
            summary: "subscriptions of one user's connections together; more are refused",
            slot: .count(\.subscriptionsPerUIDMax, 1...16_000_000)),
        Entry(
            name: "nodesPerConnectionMax",
            summary: "nodes that one connection has open; more are refused",
            slot: .count(\.nodesPerConnectionMax, 1...1_000_000)),
        Entry(
            name: "sessionsMax",
            summary: "sessions kept for resending; the longest disconnected one makes room",
            slot: .count(\.sessionsMax, 1...1_000_000)),
        Entry(
            name: "sessionsPerUIDMax",
            summary: "sessions of one user; the longest disconnected of them makes room",
            slot: .count(\.sessionsPerUIDMax, 1...1_000_000)),
        Entry(
            name: "outcomeBytesMax",
            summary: "outcomes kept of all who are disconnected; who has the most makes room",
            slot: .bytes(\.outcomeBytesMax, 4 << 10...64 << 30)),
        Entry(
            name: "outcomeBytesPerSessionMax",
            summary: "outcomes with a text or a reply kept per session; the oldest go",
            slot: .bytes(\.outcomeBytesPerSessionMax, 4 << 10...1 << 30)),
        Entry(
            name: "messageBytesMax",
            summary: "longest text of a rejection or a fault; the rest is cut",
            slot: .bytes(\.messageBytesMax, 64...64 << 10)),
        Entry(
            name: "outcomesPerSessionMax",
            summary: "outcomes kept of one session until its client confirms them",
            slot: .count(\.outcomesPerSessionMax, 1...16 << 20)),
        Entry(
            name: "refusedBytesMax",
            summary: "bytes of a refused action that are kept; of a larger one a checksum is",
            slot: .bytes(\.refusedBytesMax, 0...64 << 20)),
        Entry(
            name: "inFlightMax",
            summary: "actions without an outcome that a client is told to have at most",
            slot: .count(\.inFlightMax, 1...1_000_000)),
        Entry(
            name: "inFlightBytesMax",
            summary: "bytes of one client's actions without an outcome; then it waits",
            slot: .bytes(\.inFlightBytesMax, 4 << 10...1 << 30)),
        Entry(
            name: "unreleasedBytesMax",
            summary: "bytes that wait for the journal; then all clients wait",
            slot: .bytes(\.unreleasedBytesMax, 64 << 10...16 << 30)),
        Entry(
            name: "framesPerTurnMax",
            summary: "frames of one client, apart from actions, that are handled at a time",
            slot: .count(\.framesPerTurnMax, 1...1_000_000)),
        Entry(
            name: "batchActionsMax", summary: "actions of one transaction; more are refused",
            slot: .count(\.batchActionsMax, 1...1_000_000)),
        Entry(
            name: "effectsMax",
            summary: "effects that run at one time; actions that ask for more are told BUSY",
            slot: .count(\.effectsMax, 1...16 << 20)),
        Entry(
            name: "logInterval",
            summary: "time for which a process's fault of one kind is not logged again",
            slot: .duration(\.logInterval, .milliseconds(10) ... .seconds(3_600))),
        Entry(
            name: "loggedFaultsMax",
            summary: "faults logged in that time at most; more are counted only",
            slot: .count(\.loggedFaultsMax, 1...65_536)),
    ]

    private static let memory: [Entry] = [
        Entry(
            name: "queueBytesMax",
            summary: "outgoing deltas of one connection; then one snapshot replaces them",
            slot: .bytes(\.queueBytesMax, 4 << 10...1 << 30)),
        Entry(
            name: "undrainedBytesMax",
            summary: "waiting outcomes of one connection; then it is not read from",
            slot: .bytes(\.undrainedBytesMax, 1 << 10...1 << 30)),
        Entry(
            name: "parkedRequestsMax",
            summary: "subscriptions that wait for what the journal has of their nodes",
            slot: .count(\.parkedRequestsMax, 0...65_536)),
        Entry(
            name: "resumeBytesMax",
            summary: "recent deltas sent to one slice of a client that comes back",
            slot: .bytes(\.resumeBytesMax, 0...1 << 30)),
        Entry(
            name: "ringBytesMax",
            summary: "recent deltas kept, so that a client resumes without a snapshot",
            slot: .bytes(\.ringBytesMax, 0...16 << 30)),
        Entry(
            name: "snapshotCacheBytesMax",
            summary: "encoded snapshots kept for the next client that asks",
            slot: .bytes(\.snapshotCacheBytesMax, 0...16 << 30)),
        Entry(
            name: "answersBytesMax",
            summary: "large answers under way, each counted once; then the next wait",
            slot: .bytes(\.answersBytesMax, 64 << 10...64 << 30)),
        Entry(
            name: "answerBytesPerTurnMax",
            summary: "answers encoded before others are looked at; what is larger is made aside",
            slot: .bytes(\.answerBytesPerTurnMax, 4 << 10...16 << 20)),
        Entry(
            name: "answerDeadline",
            summary: "time for an answer to be taken while others wait; then it is ended",
            slot: .duration(\.answerDeadline, .milliseconds(10) ... .seconds(3_600))),
        Entry(
            name: "questionsPerConnectionMax",
            summary: "questions of one connection that wait; then it is not read from",
            slot: .count(\.questionsPerConnectionMax, 1...65_536)),
        Entry(
            name: "writeBytesMax", summary: "bytes handed to one connection's socket in one write",
            slot: .bytes(\.writeBytesMax, 4 << 10...64 << 20)),
    ]
}
