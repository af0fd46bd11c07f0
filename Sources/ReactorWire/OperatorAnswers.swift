/// A connection in the answer to ``Question/clients``.
@WireCodable
@MemberwiseInit
package struct ClientEntry: Equatable, Sendable {
    /// The connection's number.
    package var connection: UInt64
    /// The user of the client's process.
    package var uid: UInt32
    /// The group of the client's process.
    package var gid: UInt32
    /// The client's process.
    package var pid: Int32
    /// The program's name, as the client states it; empty before its hello.
    package var program: String
    /// Milliseconds since the connection was accepted.
    package var age: UInt64
    /// Bytes that wait for the client to read them.
    package var queueBytes: UInt64
    /// Bytes of the client's input that wait to be handled.
    package var inputBytes: UInt64
    /// Number of subscriptions.
    package var subscriptions: UInt64
    /// Number of actions received on this connection.
    package var actions: UInt64
    /// Number of actions whose outcomes the client has not been sent.
    package var inFlight: UInt64
}

/// An operation that took long, in the answer to ``Question/slowLog(after:)``.
@WireCodable
@MemberwiseInit
package struct SlowEntry: Equatable, Sendable {
    /// The entry's number; each later entry has the next.
    package var number: UInt64
    /// When the operation ended, in milliseconds since 1970.
    package var time: Int64
    /// What took long.
    package var kind: SlowKind
    /// How long it took.
    package var nanoseconds: UInt64
    /// The connection that caused it; `nil` for commits, and for turns that several caused.
    package var connection: UInt64?
    /// The user of the client's process.
    package var uid: UInt32?
    /// The client's process.
    package var pid: Int32?
    /// The question that was answered, or that caused the turn.
    package var question: String?
    /// The node of the actions, the last one if ``isMixed``; or the path in the question.
    package var path: String?
    /// Whether the actions went to several nodes.
    package var isMixed: Bool = false
    /// Number of actions that arrived together, or in the turn.
    package var actions: UInt64 = 0
    /// Bytes of the turn's batch, or of the answer.
    package var bytes: UInt64 = 0
}

/// The kinds of operations in the slow log.
@WireCodable
package enum SlowKind: String, CaseIterable, Sendable {
    /// Actions that arrived together from one client.
    case actions
    /// A turn, from its first input to its last output.
    case turn
    /// The commit of a turn's batch.
    case commit
    /// A question that was answered outside the loop.
    case question
}

/// Answer to ``Question/activity``: figures that a live view compares with those of a moment before.
@WireCodable
@MemberwiseInit
package struct DaemonActivity: Equatable, Sendable {
    /// The daemon's time in nanoseconds, from an arbitrary origin.
    package var time: UInt64
    /// The counters of ``Question/stats``.
    package var counters: [String: UInt64]
    /// Bytes of memory that the process has in RAM.
    package var residentBytes: UInt64
    /// The nodes with the most actions since the start, with their numbers of actions.
    package var nodes: [NodeActivity]
    /// Actions of all other nodes.
    package var otherActions: UInt64
    /// The open connections.
    package var clients: [ClientEntry]
    /// Upper bounds of the ranges of durations, in nanoseconds; a last range has none.
    package var bounds: [UInt64]
    /// Number of actions in each range.
    package var actionDurations: [UInt64]
    /// Number of turns in each range.
    package var turnDurations: [UInt64]
    /// Number of commits in each range.
    package var commitDurations: [UInt64]
    /// What an operator should attend to now, the gravest first; none from an older daemon.
    package var alarms: [String] = []
}

/// A node with its number of actions.
@WireCodable
@MemberwiseInit
package struct NodeActivity: Equatable, Sendable {
    /// Path of the node.
    package var path: String
    /// Actions since the daemon's start.
    package var actions: UInt64
}

/// Answer to ``Question/reload(isDryRun:)``.
@WireCodable
@MemberwiseInit
package struct ReloadReport: Equatable, Sendable {
    /// Keys of the configuration whose new values apply from here on, such as `log.level`; in a dry
    /// run, those that would.
    package var applied: [String]
    /// Keys whose new values apply after a restart of the daemon.
    package var needsRestart: [String]
    /// Problems of the file, with their lines. If there is one, nothing was applied.
    package var problems: [String]
}

/// Answer to ``Question/restart``, by the new process or, with a problem, by the former one.
@WireCodable
@MemberwiseInit
package struct RestartReport: Equatable, Sendable {
    /// The process that serves from here on.
    package var pid: Int32
    /// Its name and version.
    package var daemon: String
    /// Number of connections that it has taken over.
    package var connections: UInt64
    /// Number of those connections that it closes with DRAINING: their clients connect again.
    package var closed: UInt64
    /// Why the former process goes on serving; `nil` if another serves now.
    package var problem: String?
}
