import ClusterSimulation
import ReactorCluster

/// A deliberate fault in a simulated cluster, to prove that the simulation detects it.
///
/// Faults that need servers over the log are not among these: repeated and lost forwards, ends of
/// connections, effects of deposed leaders, epochs.
enum ClusterFault: String, CaseIterable, Sendable {
    /// The engine appends an entry of any term.
    case unfencedAppends
    /// A leader tells its rows before the log has them.
    case earlyTells
    /// A follower takes over without having applied the log up to its head.
    case keptTerm
    /// The leader compacts entries that only some nodes have durably.
    case compactedTooFar
    /// Rows are reported as durable that are only stored.
    case unsyncedReports
    /// A follower applies the entry behind a missing one.
    case acceptedGap
    /// A follower applies an entry twice.
    case acceptedRepeat
    /// An append without an answer counts as refused, so its rows are appended again.
    case secondResolve
    /// A deposed leader tells the rows that it had decided.
    case deposedTells
    /// A leader without confirmations continues to act.
    case ignoredSuspension
    /// A follower takes over although the leader has given signs of life.
    case carelessTakeOver
}

/// Changes calls and events of a simulated cluster, as faulty code would: see ``ClusterFault``.
final class ClusterSaboteur: ClusterFaults {
    let fault: ClusterFault

    init(_ fault: ClusterFault) { self.fault = fault }

    var tellsEarly: Bool { fault == .earlyTells }
    var tellsDeposed: Bool { fault == .deposedTells }
    var refusesUnknown: Bool { fault == .secondResolve }
    var reportsUnsynced: Bool { fault == .unsyncedReports }
    var ignoresSuspension: Bool { fault == .ignoredSuspension }
    var skipsChecks: Bool { fault == .acceptedGap || fault == .acceptedRepeat }

    func applied(_ call: EngineCall, by node: ClusterNode, to log: SimulatedLog) -> EngineCall {
        switch (fault, call) {
        case (.unfencedAppends, .append(let entry, let expected, _)):
            return .append(entry: entry, expected: expected, term: log.term)
        case (.keptTerm, .append(let entry, _, let term)):
            return .append(entry: entry, expected: log.head.number, term: term)
        case (.keptTerm, .takeOver(var seen, let record)):
            seen.head = log.head
            return .takeOver(seen: seen, record: record)
        case (.carelessTakeOver, .takeOver(_, let record)):
            return .takeOver(seen: log.sighting, record: record)
        case (.compactedTooFar, .compact): return .compact(upTo: log.head)
        default: return call
        }
    }

    func received(
        _ event: EngineEvent, by node: ClusterNode, at position: AppliedPosition
    ) -> EngineEvent {
        switch (fault, event) {
        case (.keptTerm, .sighting(var sighting)):
            sighting.head = position.entry
            return .sighting(sighting)
        case (.keptTerm, .won(let term, _)): return .won(term: term, head: position.entry)
        case (.keptTerm, .appended(let appended)):
            return .appended(
                LogPosition(number: position.entry.number + 1, revision: appended.revision))
        case (.acceptedGap, .entries(let entries)):
            return .entries(entries.map { moved($0, from: { $0 > 1 }, behind: position) })
        case (.acceptedRepeat, .entries(let entries)):
            return .entries(entries.map { moved($0, from: { $0 < 1 }, behind: position) })
        default: return event
        }
    }

    /// Gives an entry the number that the machine expects, if its distance from the last entry
    /// satisfies `isMoved`.
    private func moved(
        _ stored: StoredEntry, from isMoved: (Int64) -> Bool, behind position: AppliedPosition
    ) -> StoredEntry {
        let distance = Int64(stored.position.number) - Int64(position.entry.number)
        guard isMoved(distance), var entry = try? LogEntry(bytes: stored.bytes) else {
            return stored
        }
        entry.behind = position.row
        entry.term = max(entry.term, position.term)
        return StoredEntry(
            position: LogPosition(
                number: position.entry.number + 1,
                revision: max(stored.position.revision, position.entry.revision + 1)),
            bytes: entry.bytes)
    }
}
