package import ReactorCluster

/// The engine of a cluster in memory: keys with versions and revisions, transactions, history,
/// compaction.
///
/// *Place*: ``SimulatedEngine`` is a node's connection to it. It applies each call at once and
/// completely, as the members of the real engine do once they agree on it.
package final class SimulatedLog {
    /// A change that a watch reports.
    package enum Change: Equatable {
        case entry(StoredEntry)
        case leader(term: UInt64, LeaderRecord)

        /// The revision of the change.
        package var revision: UInt64 {
            switch self {
            case .entry(let entry): entry.position.revision
            case .leader(let term, _): term
            }
        }
    }

    /// The revision of the last change of any key.
    package private(set) var revision: UInt64 = 1
    /// The mod revision of the leader key.
    package private(set) var term: UInt64 = 0
    /// The revision at which the history begins.
    package private(set) var compacted: UInt64 = 0
    private var leader: LeaderRecord?
    private var beat: UInt64 = 0
    private var last: StoredEntry?
    private var nodes: [ClusterNode: NodeSighting] = [:]
    private var history: [Change] = []
    /// Called with each change, after it.
    package var onChange: ((Change) -> Void)?
    /// Called before the history is compacted.
    package var onCompaction: ((LogPosition) -> Void)?

    /// An empty log.
    package init() {}

    /// The position of the last entry.
    package var head: LogPosition { last?.position ?? .beginning }

    /// The state that a look reads.
    package var sighting: LeaderSighting {
        LeaderSighting(
            head: head, term: term, leader: leader, beat: beat,
            nodes: nodes.values.sorted { $0.report.node < $1.report.node })
    }

    /// Nanoseconds for which former states are kept.
    package static let formerSpan: UInt64 = 300_000_000
    private var former: [(time: UInt64, sighting: LeaderSighting)] = []

    /// Keeps the state as of `now`, and returns the oldest that is kept.
    package func formerSighting(at now: UInt64) -> LeaderSighting {
        former.append((now, sighting))
        former.removeAll { $0.time + Self.formerSpan < now }
        return former[0].sighting
    }

    /// The changes after a revision; nil if some of them are compacted.
    package func changes(after revision: UInt64) -> [Change]? {
        guard revision + 1 >= compacted else { return nil }
        let index = history.lastIndex { $0.revision <= revision }.map { $0 + 1 } ?? 0
        return Array(history[index...])
    }

    /// Applies a transaction. *Traps*: on a call that opens or ends a watch.
    package func apply(_ call: EngineCall) -> EngineEvent {
        switch call {
        case .announce(let report):
            revision += 1
            let version = (nodes[report.node]?.version ?? 0) + 1
            nodes[report.node] = NodeSighting(version: version, report: report)
            return .announced(version: version)
        case .look: return .sighting(sighting)
        case .confirm:
            revision += 1
            return .sighting(sighting)
        case .append(let bytes, let expected, let term):
            guard head.number == expected, self.term == term else { return refusal(.append) }
            revision += 1
            let position = LogPosition(number: expected + 1, revision: revision)
            let entry = StoredEntry(position: position, bytes: bytes)
            last = entry
            keep(.entry(entry))
            return .appended(position)
        case .beat(let term):
            guard self.term == term else { return refusal(.beat) }
            revision += 1
            beat = revision
            return .beaten
        case .takeOver(let seen, let record):
            guard term == seen.term, beat == seen.beat, head.number == seen.head.number else {
                return .lost(sighting)
            }
            put(record)
            return .won(term: term, head: head)
        case .vacate(let term, let successor):
            guard self.term == term else { return refusal(.vacate) }
            put(.vacant(successor: successor))
            return .vacated(term: self.term)
        case .compact(let position):
            compact(position)
            return .trimmed
        case .watch, .unwatch: preconditionFailure("a watch is no transaction")
        }
    }

    private func put(_ record: LeaderRecord) {
        revision += 1
        (term, leader) = (revision, record)
        keep(.leader(term: term, record))
    }

    private func keep(_ change: Change) {
        history.append(change)
        onChange?(change)
    }

    private func refusal(_ kind: EngineCallKind) -> EngineEvent {
        .refused(kind, LogRefusal(last: last, term: term, leader: leader))
    }

    private func compact(_ position: LogPosition) {
        guard position.revision > compacted else { return }
        onCompaction?(position)
        compacted = position.revision
        // The value of each key at the compacted revision stays.
        let entry = history.lastIndex { change in
            if case .entry(let entry) = change {
                entry.position.revision <= compacted
            } else {
                false
            }
        }
        let leader = history.lastIndex { change in
            if case .leader(let term, _) = change { term <= compacted } else { false }
        }
        let kept = history.enumerated().filter { index, change in
            change.revision > compacted || index == entry || index == leader
        }
        history = kept.map(\.element)
    }
}
