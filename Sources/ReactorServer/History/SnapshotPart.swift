import ReactorCore
import ReactorWire

/// A part of a snapshot, as it is stored.
///
/// Nodes and ownerships have the snapshot's revision. Other parts may be later, up to the end of
/// the journal when the snapshot was finished: replaying facts twice changes nothing.
@WireCodable
enum SnapshotPart: Equatable, Sendable {
    /// Nodes, one after the other: see `SavedNode`.
    case nodes([UInt8])
    /// Sessions with their outcomes.
    case sessions([SavedSession])
    /// All ownerships.
    case ownership([OwnershipFact])
    /// Durable tasks and leases.
    case tasks([TaskFact])
    /// The remembered ended sessions, and the highest sequence at which a forgotten session ended.
    case ended(sessions: [EndedSession], forgottenUpTo: UInt64?)
    /// The highest numbers of connections, clients and durable tasks, and the epoch.
    case numbers(connection: UInt64, client: UInt64, task: UInt64, epoch: UInt64)
}
