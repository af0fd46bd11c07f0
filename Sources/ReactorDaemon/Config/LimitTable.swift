import ReactorServer
import ReactorWire

/// The limits that an operator can set: name, meaning and range.
///
/// *Place*: ``ConfigLimits`` reads `limits:` by this table and the summary prints it. The values
/// and defaults are those of `ServerLimits`; every entry names one of its stored properties.
enum LimitTable {
    /// One limit.
    struct Entry: Sendable {
        /// The key under `limits:`, the name of the property.
        let name: String
        /// One line: what is limited, and what happens at the limit.
        let summary: String
        let slot: Slot
    }

    /// The property that holds a limit's value, its unit and its range.
    enum Slot: Sendable {
        case count(any WritableKeyPath<ServerLimits, Int> & Sendable, ClosedRange<Int>)
        case bytes(any WritableKeyPath<ServerLimits, Int> & Sendable, ClosedRange<Int>)
        /// Bytes, or `auto`, which is stored as 0.
        case ceiling(any WritableKeyPath<ServerLimits, Int> & Sendable, ClosedRange<Int>)
        /// Bytes, or a share of `memoryMax` in percent.
        case share(any WritableKeyPath<ServerLimits, ByteShare> & Sendable, ClosedRange<Int>)
        /// Stored as nanoseconds.
        case duration(
            any WritableKeyPath<ServerLimits, UInt64> & Sendable, ClosedRange<Duration>)
    }

    /// Every limit, in display order.
    static let entries: [Entry] = connections + clients + memory

    /// Pairs of limits: the first must not exceed the second.
    static let nested: [(inner: String, outer: String)] = [
        ("connectionsPerUIDMax", "connectionsMax"), ("handshakesMax", "connectionsMax"),
    ]

    /// The limit with this name; nil if there is none.
    static func entry(named name: String) -> Entry? { entries.first { $0.name == name } }

    /// A limit's value in the notation of the file.
    static func text(of entry: Entry, in limits: ServerLimits) -> String {
        switch entry.slot {
        case .count(let path, _): "\(limits[keyPath: path])"
        case .bytes(let path, _): ByteSizeText.format(limits[keyPath: path])
        case .ceiling(let path, _):
            limits[keyPath: path] == 0
                ? automatic : ByteSizeText.format(limits[keyPath: path])
        case .share(let path, _):
            switch limits[keyPath: path] {
            case .bytes(let count): ByteSizeText.format(count)
            case .percent(let share): "\(share)%"
            }
        case .duration(let path, _):
            DurationText.format(.nanoseconds(Int64(clamping: limits[keyPath: path])))
        }
    }

    /// The text of a ceiling that the daemon chooses.
    static let automatic = "auto"

    private static let connections: [Entry] = [
        Entry(
            name: "frameBytesMax",
            summary: "largest frame body; a larger one closes the sender's connection",
            slot: .bytes(\.frameBytesMax, 4 << 10...64 << 20)),
        Entry(
            name: "connectionsMax",
            summary: "simultaneous connections; further ones are refused with BUSY",
            slot: .count(\.connectionsMax, 1...1_000_000)),
        Entry(
            name: "connectionsPerUIDMax",
            summary: "simultaneous connections of one user; further ones are refused with BUSY",
            slot: .count(\.connectionsPerUIDMax, 1...1_000_000)),
        Entry(
            name: "ownerConnectionsReserved",
            summary: "connections reserved for the daemon's own user, for its administration",
            slot: .count(\.ownerConnectionsReserved, 0...1_000)),
        Entry(
            name: "handshakesMax",
            summary: "connections that have not sent HELLO yet; above this, the oldest is closed",
            slot: .count(\.handshakesMax, 1...65_536)),
        Entry(
            name: "handshakeDeadline",
            summary: "time to send HELLO; a connection that takes longer is closed",
            slot: .duration(\.handshakeDeadline, .milliseconds(10) ... .seconds(3_600))),
        Entry(
            name: "closeDeadline",
            summary: "time for a client that is being closed to read its remaining frames",
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
            name: "selectionsMax",
            summary: "different selections of children that all clients follow",
            slot: .count(\.selectionsMax, 1...65_536)),
        Entry(
            name: "selectionsPerUIDMax",
            summary:
                "different selections of children that one user's clients were first to follow",
            slot: .count(\.selectionsPerUIDMax, 1...65_536)),
        Entry(
            name: "selectionBytesMax",
            summary: "sort keys of all selections, above which a further selection is refused",
            slot: .bytes(\.selectionBytesMax, 64 << 10...16 << 30)),
        Entry(
            name: "sessionsMax",
            summary: "sessions kept for resent actions; the longest disconnected one makes room",
            slot: .count(\.sessionsMax, 1...1_000_000)),
        Entry(
            name: "sessionsPerUIDMax",
            summary: "sessions of one user; the longest disconnected of them makes room",
            slot: .count(\.sessionsPerUIDMax, 1...1_000_000)),
        Entry(
            name: "outcomeBytesMax",
            summary: "outcomes kept for disconnected clients; the session with the most makes room",
            slot: .bytes(\.outcomeBytesMax, 4 << 10...64 << 30)),
        Entry(
            name: "outcomeBytesPerSessionMax",
            summary: "outcomes with a text or a reply kept per session; the oldest are removed",
            slot: .bytes(\.outcomeBytesPerSessionMax, 4 << 10...1 << 30)),
        Entry(
            name: "messageBytesMax",
            summary: "longest text of a rejection or a fault; the rest is cut",
            slot: .bytes(\.messageBytesMax, 64...64 << 10)),
        Entry(
            name: "outcomesPerSessionMax",
            summary: "outcomes kept for one session until its client confirms them",
            slot: .count(\.outcomesPerSessionMax, 1...16 << 20)),
        Entry(
            name: "refusedBytesMax",
            summary: "largest refused action that is stored; of a larger one, only its checksum is",
            slot: .bytes(\.refusedBytesMax, 0...64 << 20)),
        Entry(
            name: "inFlightMax",
            summary: "actions without an outcome that one client may have",
            slot: .count(\.inFlightMax, 1...1_000_000)),
        Entry(
            name: "inFlightBytesMax",
            summary:
                "bytes of one client's actions without an outcome; above this, its input is not read",
            slot: .bytes(\.inFlightBytesMax, 4 << 10...1 << 30)),
        Entry(
            name: "unreleasedBytesMax",
            summary: "bytes that wait for the journal; above this, no client's input is read",
            slot: .bytes(\.unreleasedBytesMax, 64 << 10...16 << 30)),
        Entry(
            name: "unreleasedBytesPerUIDMax",
            summary:
                "those of one user, while others are connected; above this, its input is not read",
            slot: .bytes(\.unreleasedBytesPerUIDMax, 4 << 10...16 << 30)),
        Entry(
            name: "framesPerTurnMax",
            summary: "frames of one client, except actions, handled before those of other clients",
            slot: .count(\.framesPerTurnMax, 1...1_000_000)),
        Entry(
            name: "turnTimePerUID",
            summary:
                "time of one user's input, handled before that of other users that are connected",
            slot: .duration(\.turnTimePerUID, .microseconds(100) ... .seconds(3_600))),
        Entry(
            name: "batchActionsMax", summary: "actions of one transaction; more are refused",
            slot: .count(\.batchActionsMax, 1...1_000_000)),
        Entry(
            name: "effectsMax",
            summary: "simultaneous effects; actions that request more are refused with BUSY",
            slot: .count(\.effectsMax, 1...16 << 20)),
        Entry(
            name: "logInterval",
            summary: "time in which the same fault of one process is logged once",
            slot: .duration(\.logInterval, .milliseconds(10) ... .seconds(3_600))),
        Entry(
            name: "loggedFaultsMax",
            summary: "faults logged in that time at most; more are counted only",
            slot: .count(\.loggedFaultsMax, 1...65_536)),
    ]

    private static let memory: [Entry] = [
        Entry(
            name: "memoryMax",
            summary:
                "memory of the daemon; above this, actions that make states larger are refused",
            slot: .ceiling(\.memoryMax, 16 << 20...64 << 40)),
        Entry(
            name: "stateBytesMax",
            summary: "encoded bytes of all states; above this, actions that add bytes are refused",
            slot: .share(\.stateBytesMax, 1 << 20...64 << 40)),
        Entry(
            name: "memoryPerUIDMax",
            summary:
                "waiting bytes of one user's clients; above this, its heaviest connection is closed",
            slot: .ceiling(\.memoryPerUIDMax, 1 << 20...64 << 40)),
        Entry(
            name: "queueBytesMax",
            summary: "outgoing deltas of one connection; above this, one snapshot replaces them",
            slot: .bytes(\.queueBytesMax, 4 << 10...1 << 30)),
        Entry(
            name: "undrainedBytesMax",
            summary: "waiting outcomes of one connection; above this, its input is not read",
            slot: .bytes(\.undrainedBytesMax, 1 << 10...1 << 30)),
        Entry(
            name: "parkedRequestsMax",
            summary: "subscriptions that wait for deltas from the journal",
            slot: .count(\.parkedRequestsMax, 0...65_536)),
        Entry(
            name: "resumeBytesMax",
            summary: "recent deltas sent for one slice of a reconnected client",
            slot: .bytes(\.resumeBytesMax, 0...1 << 30)),
        Entry(
            name: "ringBytesMax",
            summary: "recent deltas kept, so that a client resumes without a snapshot",
            slot: .bytes(\.ringBytesMax, 0...16 << 30)),
        Entry(
            name: "snapshotCacheBytesMax",
            summary: "encoded snapshots kept for the next client that requests them",
            slot: .bytes(\.snapshotCacheBytesMax, 0...16 << 30)),
        Entry(
            name: "answersBytesMax",
            summary: "large answers in progress, each counted once; further ones wait",
            slot: .bytes(\.answersBytesMax, 64 << 10...64 << 30)),
        Entry(
            name: "answerBytesPerTurnMax",
            summary:
                "answers encoded between other work; a larger one is encoded on another thread",
            slot: .bytes(\.answerBytesPerTurnMax, 4 << 10...16 << 20)),
        Entry(
            name: "answerDeadline",
            summary:
                "time for a client to read an answer while others wait; then the answer is ended",
            slot: .duration(\.answerDeadline, .milliseconds(10) ... .seconds(3_600))),
        Entry(
            name: "questionsPerConnectionMax",
            summary: "waiting queries of one connection; above this, its input is not read",
            slot: .count(\.questionsPerConnectionMax, 1...65_536)),
        Entry(
            name: "heavyPerUIDMax",
            summary:
                "large answers that one user reads, and its queries that need a second tree",
            slot: .count(\.heavyPerUIDMax, 1...1_000)),
        Entry(
            name: "writeBytesMax",
            summary: "bytes written to one connection's socket in one system call",
            slot: .bytes(\.writeBytesMax, 4 << 10...64 << 20)),
    ]
}
