/// A deliberate fault in a simulation, to prove that the simulation detects it.
///
/// *Place*: tests of the simulation itself. A simulation that cannot detect a planted fault
/// proves nothing.
enum PlantedFault: String, CaseIterable, Sendable {
    // MARK: On the wire

    /// The server does not replace updates that it dropped for a slow reader by a snapshot.
    case lostUpdates
    /// The server applies a resent action a second time.
    case repeatedActions
    /// Outcomes are sent before the updates that belong to them.
    case earlyOutcomes
    /// A mark is sent before the last of the updates that it completes.
    case earlyMarks
    /// A server that starts without its history, or without the end of it, keeps its epoch.
    case keptEpoch
    /// Objects owned by a closed connection stay owned.
    case keptClaims
    /// A reconnecting client misses the first turn of the updates it lacks.
    case lateResumes
    /// The first update after the snapshot that replaces dropped updates is dropped too.
    case lateConflations
    /// Some replacing values are not sent.
    case lostValues

    // MARK: In the journal's input

    /// Outcomes are sent before their batch is committed.
    case earlyReports
    /// The journal does not get the outcomes of actions.
    case lostOutcomes
    /// The journal does not get the arrivals of actions.
    case lostArrivals
    /// The journal does not get runs of plain actions.
    case lostRuns
    /// Runs of plain actions are recorded with one action less.
    case shortRuns
    /// Runs of plain actions are recorded with a sequence that is one too high.
    case shiftedRuns
    /// The journal does not get new sessions.
    case lostSessions
    /// The journal does not get ownership, so a restart does not end former connections.
    case lostOwnership
    /// The journal does not get tasks, which record planned and promised work.
    case lostTasks
    /// The journal does not get the numbers of the static nodes.
    case lostLayouts
    /// The journal does not get the evictions of sessions.
    case lostEvictions
    /// The journal does not get clients' goodbyes.
    case lostGoodbyes
    /// A goodbye is recorded for another client.
    case foreignGoodbyes

    // MARK: In snapshots

    /// Snapshots lack the sessions.
    case unsavedSessions
    /// Snapshots lack the ownership of objects.
    case unsavedOwnership
    /// Snapshots lack the tasks.
    case unsavedTasks
    /// Snapshots lack the evicted sessions.
    case unsavedEvictions
    /// Snapshots lack the highest numbers of clients and connections.
    case unsavedNumbers
    /// A snapshot is recorded under the row after its own.
    case lateSnapshotRow
    /// A snapshot is recorded under the row before its own.
    case earlySnapshotRow
    /// A snapshot is used before the rows that its sessions refer to are committed.
    case earlySnapshots
    /// The nodes of the older snapshot are restored with the rest of the newer one.
    case mixedSnapshots
    /// Rows are trimmed up to the newer snapshot, although a recovery may use the older one.
    case trimmedTooFar

    // MARK: In crashes and recovery

    /// The server keeps changes that a full disk refused.
    case ignoredRefusals

    /// A crash loses rows whose commit was reported.
    case lostAcknowledged
    /// A crash leaves half of the last row, and recovery replays it.
    case tornRow
    /// A crash loses rows before a row that survives.
    case lostMiddleRow
    /// Recovery replays a row twice.
    case repeatedRow
    /// Recovery skips a row.
    case skippedRow
    /// Recovery skips the deltas of one node.
    case lostDeltas

    /// Whether the fault is in the journal or in the use of it.
    var isOfHistory: Bool {
        switch self {
        case .lostUpdates, .repeatedActions, .earlyOutcomes, .earlyMarks, .keptClaims, .lateResumes,
            .lateConflations, .lostValues:
            false
        default: true
        }
    }
}
