/// A call to the engine. Each case states its transaction.
///
/// *Shape*: `version(k)` is the number of changes of the key `k`, `mod(k)` the engine's revision of
/// its last change; both are 0 for a key that does not exist. Keys are those of ``ClusterKeys``.
/// Each transaction is one request: the engine evaluates its comparisons where it applies it. No
/// call deletes a key, and none uses a lease.
package enum EngineCall: Equatable, Sendable {
    /// `put node/I = report; get node/I`, without a comparison.
    /// *Answer*: ``EngineEvent/announced(version:)``.
    case announce(NodeReport)
    /// Watches the keys from `leader` to `log`, both included, from the revision after
    /// `position.revision` on, without deletions. It replaces an earlier watch.
    /// *Events*: ``EngineEvent/entries(_:)``, ``EngineEvent/leader(term:_:)``,
    /// ``EngineEvent/compacted(upTo:)``, ``EngineEvent/watchEnded(_:)``.
    case watch(after: LogPosition)
    /// Ends the watch. *Answer*: none; an event of the watch may still arrive.
    case unwatch
    /// `get log without its value, leader, beat, node/*` in one read, linearizable.
    /// *Answer*: ``EngineEvent/sighting(_:)``.
    case look
    /// `put probe = ""`, and the reads of ``look`` in the same transaction: the engine evaluates them
    /// where it applies the write, so that they are current even where its other reads are not.
    /// *Answer*: ``EngineEvent/sighting(_:)``.
    case confirm
    /// `if version(log) = expected and mod(leader) = term then put log = entry
    /// else get log, leader`.
    /// *Answer*: ``EngineEvent/appended(_:)`` or ``EngineEvent/refused(_:_:)``.
    case append(entry: [UInt8], expected: UInt64, term: UInt64)
    /// `if mod(leader) = term then put beat = "" else get log, leader`.
    /// *Answer*: ``EngineEvent/beaten`` or ``EngineEvent/refused(_:_:)``.
    case beat(term: UInt64)
    /// `if mod(leader) = seen.term and mod(beat) = seen.beat and version(log) = seen.head.number
    /// then put leader = record, get log without its value
    /// else get log without its value, leader, beat, node/*`.
    /// *Answer*: ``EngineEvent/won(term:head:)`` or ``EngineEvent/lost(_:)``.
    case takeOver(seen: LeaderSighting, record: LeaderRecord)
    /// `if mod(leader) = term then put leader = vacant for successor else get log, leader`.
    /// *Answer*: ``EngineEvent/vacated(term:)`` or ``EngineEvent/refused(_:_:)``.
    case vacate(term: UInt64, successor: ClusterNode?)
    /// Compacts the engine's history at `position.revision`: the engine keeps the value of each key
    /// at that revision, and drops earlier values. A history that is already compacted further
    /// counts as success.
    /// *Answer*: ``EngineEvent/trimmed``.
    case compact(upTo: LogPosition)

    /// The kind of the call.
    package var kind: EngineCallKind {
        switch self {
        case .announce: .announce
        case .watch, .unwatch: .watch
        case .look, .confirm: .look
        case .append: .append
        case .beat: .beat
        case .takeOver: .takeOver
        case .vacate: .vacate
        case .compact: .compact
        }
    }
}

/// A call without its arguments.
package enum EngineCallKind: String, CaseIterable, Sendable {
    case announce, watch, look, append, beat, takeOver, vacate, compact
}
