import ReactorCore
import ReactorWire

/// A turn of the past, as a journal kept it.
package struct HistoryRow: Sendable {
    /// The epoch of the sequences.
    package var epoch: UInt64
    /// Sequence before the turn's first transaction.
    package var after: UInt64
    /// Sequence of the turn's last transaction.
    package var sequence: UInt64
    /// Its delta frames, as subscribers received them.
    package var deltas: [UInt8]
    /// Its ``TurnFact``s.
    package var facts: [UInt8]

    /// Describes a turn of the past.
    package init(
        epoch: UInt64, after: UInt64, sequence: UInt64, deltas: [UInt8], facts: [UInt8]
    ) {
        self.epoch = epoch
        self.after = after
        self.sequence = sequence
        self.deltas = deltas
        self.facts = facts
    }
}

/// A piece of a snapshot, as it rests.
///
/// Nodes and ownerships are as of the snapshot's revision. The rest may be as of a later one, up to the
/// end of the journal when the snapshot was finished: replaying facts a second time changes nothing.
@WireCodable
enum SnapshotPart: Equatable, Sendable {
    /// Nodes, one behind the other: see `SavedNode`.
    case nodes([UInt8])
    /// Sessions with their outcomes.
    case sessions([SavedSession])
    /// All ownerships.
    case ownership([OwnershipFact])
    /// Durable tasks and leases.
    case tasks([TaskFact])
    /// The remembered ended sessions, and the last end of the forgotten ones.
    case ended(sessions: [EndedSession], forgottenUpTo: UInt64?)
    /// The highest numbers of connections, clients and durable tasks, and the epoch.
    case numbers(connection: UInt64, client: UInt64, task: UInt64, epoch: UInt64)
}
