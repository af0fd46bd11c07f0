public import ReactorCore

/// The name of a run: its project, and its number there.
@WireCodable
@MemberwiseInit
public struct RunID: Hashable, Sendable, CustomStringConvertible {
    /// The project's name.
    public var project: String
    /// The number in the project, from 1.
    public var number: Int

    public var description: String { "\(project)/\(number)" }
}

/// The news that a run has ended.
@WireCodable
public struct Announcement: Equatable, Sendable {
    /// The run.
    public var run: RunID
    /// How it ended.
    public var phase: RunPhase
}

/// A worker: a connection, with the name that it gave.
@WireCodable
@MemberwiseInit
public struct Worker: Hashable, Sendable {
    /// The number of the connection.
    public var connection: UInt64
    /// The name, for people.
    public var name: String
}
