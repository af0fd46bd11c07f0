import ReactorCore
import ReactorWire

/// A piece of a snapshot, as it rests.
///
/// Nodes, and who owns what, are as of the snapshot's revision; the rest may be of a later one, up to
/// the end of the journal when the snapshot was finished: facts that are replayed upon it change
/// nothing.
@WireCodable
enum SnapshotPart: Equatable, Sendable {
    /// Nodes, one behind the other: see `SavedNode`.
    case nodes([UInt8])
    /// Sessions with their outcomes.
    case sessions([SavedSession])
    /// Who owns what.
    case ownership([OwnershipFact])
    /// What is planned and promised.
    case tasks([TaskFact])
    /// Sessions that ended and are remembered, and the last end of those that are not.
    case ended(sessions: [EndedSession], forgottenUpTo: UInt64?)
    /// The highest numbers that connections, clients and durable tasks had, in this epoch.
    case numbers(connection: UInt64, client: UInt64, task: UInt64, epoch: UInt64)
}

/// A session as it rests in a snapshot.
@WireCodable
struct SavedSession: Equatable, Sendable {
    var client: UInt64
    var secret: [UInt8]
    var uid: UInt32
    /// Highest ordinal seen.
    var ordinal: UInt64
    var runs: [Run]
    var exceptions: [Exception]
    /// Actions whose answer is owed.
    var deferred: [UInt64]

    /// Consecutive actions that were applied.
    @WireCodable
    struct Run: Equatable, Sendable {
        var ordinal: UInt64
        var sequence: UInt64
        var count: UInt64
    }

    /// Any other outcome.
    @WireCodable
    struct Exception: Equatable, Sendable {
        var ordinal: UInt64
        var outcome: Outcome
    }
}
