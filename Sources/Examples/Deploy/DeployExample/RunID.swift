public import ReactorCore

/// The name of a run: its project, and its number there.
@WireCodable
public struct RunID: Hashable, Sendable, CustomStringConvertible {
    /// The project's name.
    public var project: String
    /// The number in the project, from 1.
    public var number: Int

    /// Names the run with a number in a project.
    public init(project: String, number: Int) {
        self.project = project
        self.number = number
    }

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
public struct Worker: Hashable, Sendable {
    /// The number of the connection.
    public var connection: UInt64
    /// The name, for people.
    public var name: String

    /// Names the worker behind a connection.
    public init(connection: UInt64, name: String) {
        self.connection = connection
        self.name = name
    }
}
