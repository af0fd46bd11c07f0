/// A fault put into a simulation on purpose, to see that it is noticed.
///
/// *Place*: tests of the simulation; a run that notices none of them proves nothing without one.
public enum PlantedFault: String, CaseIterable, Sendable {
    // MARK: On the wire

    /// Updates that are dropped for a slow reader are not replaced by a snapshot.
    case lostUpdates
    /// An action that is sent again is applied again.
    case repeatedActions
    /// Outcomes overtake the updates that they belong to.
    case earlyOutcomes
    /// Marks overtake the last of the updates that they complete.
    case earlyMarks
    /// A server that starts without its past, or without its end, goes on with its epoch.
    case keptEpoch
    /// What a connection that has ended owned stays owned.
    case keptClaims
    /// A client that comes back is given the updates from one turn too late on.
    case lateResumes
    /// The first update behind the snapshot that replaces dropped ones is dropped as well.
    case lateConflations
    /// A value that replaces another is not sent now and then.
    case lostValues

    // MARK: In what the journal is told

    /// Outcomes leave before their batch is committed.
    case earlyReports
    /// The journal is not told what became of an action.
    case lostOutcomes
    /// The journal is not told that an action came.
    case lostArrivals
    /// The journal is not told of runs of plain actions.
    case lostRuns
    /// Runs of plain actions are one shorter in the journal.
    case shortRuns
    /// Runs of plain actions stand one sequence too high in the journal.
    case shiftedRuns
    /// The journal is not told of new sessions.
    case lostSessions
    /// The journal is not told who owns what: nobody's former connection is ended.
    case lostOwnership
    /// The journal is not told what is planned and promised.
    case lostTasks
    /// The journal is not told which numbers the static nodes have.
    case lostLayouts
    /// The journal is not told which sessions were evicted.
    case lostEvictions
    /// The journal is not told that a client said goodbye.
    case lostGoodbyes
    /// A goodbye is written down as another client's.
    case foreignGoodbyes

    // MARK: In snapshots

    /// Sessions are left out of snapshots.
    case unsavedSessions
    /// Who owns what is left out of snapshots.
    case unsavedOwnership
    /// What is planned and promised is left out of snapshots.
    case unsavedTasks
    /// Which sessions were evicted is left out of snapshots.
    case unsavedEvictions
    /// The highest numbers of clients and connections are left out of snapshots.
    case unsavedNumbers
    /// A snapshot is said to be of the row after its own.
    case lateSnapshotRow
    /// A snapshot is said to be of the row before its own.
    case earlySnapshotRow
    /// A snapshot is used before the rows are committed that its sessions know of.
    case earlySnapshots
    /// The nodes of the older snapshot are restored with the rest of the newer.
    case mixedSnapshots
    /// Rows are trimmed behind the newer snapshot, and the older one is used.
    case trimmedTooFar

    // MARK: At a crash, and in recovery

    /// A server goes on with what a full disk refused.
    case ignoredRefusals

    /// A crash loses rows that were reported.
    case lostAcknowledged
    /// A crash leaves the last row half written, and it is replayed.
    case tornRow
    /// A crash loses rows in front of one that it leaves.
    case lostMiddleRow
    /// A row is replayed twice.
    case repeatedRow
    /// A row is not replayed.
    case skippedRow
    /// Changes of one node are not replayed.
    case lostDeltas

    /// Whether it is planted in a journal, or in what is made of it.
    public var isOfHistory: Bool {
        switch self {
        case .lostUpdates, .repeatedActions, .earlyOutcomes, .earlyMarks, .keptClaims, .lateResumes,
            .lateConflations, .lostValues:
            false
        default: true
        }
    }
}
