/// The ordered log that the daemons of a cluster share, and the leadership that fences it.
///
/// *Place*: under ``ClusterMachine``, which makes the calls and decides on the events. The log is
/// the history of one key: entry E is the value that the key had in version E.
///
/// *Owner*: the loop's thread. An implementation calls ``onEvent`` on that thread, and never from
/// inside ``send(_:)``.
///
/// *Shape*: rules for the callers and for the implementations.
/// - Each ``EngineCallKind`` except `watch` has at most one unanswered call.
/// - Each call except `watch` and `unwatch` gets exactly one answer: the event that
///   ``EngineCall`` names, or ``EngineEvent/unknown(_:_:)``. An answer that arrives after
///   `unknown` was reported is dropped.
/// - Before ``EngineEvent/down(_:)``, each unanswered call gets `unknown`. The watch ends with the
///   connection, without an event. Until ``EngineEvent/up`` the machine sends nothing.
/// - A call without an answer within ``EngineLimits/answerDeadline`` gets `unknown` with
///   ``EngineOutage/late``, and the implementation opens another connection: `down`, later `up`.
/// - The implementation retries no call. The caller does.
package protocol LogEngine: AnyObject {
    /// Called with each event.
    var onEvent: ((EngineEvent) -> Void)? { get set }

    /// Makes a call. It returns at once; an event answers it later.
    func send(_ call: EngineCall)
}

/// Limits of the calls.
package enum EngineLimits {
    /// Nanoseconds after which a call without an answer counts as unknown.
    package static let answerDeadline: UInt64 = 2_000_000_000
    /// Maximum size of an entry in bytes. A longer row is cut into parts. The engine keeps many
    /// recent entries in memory, so larger ones would cost it gigabytes.
    package static let entryBytesMax = 64 << 10
    /// Maximum number of nodes in a cluster: an implementation may refuse reports beyond it.
    package static let nodesMax = 5
}

/// The keys of a cluster in the engine.
package struct ClusterKeys: Equatable, Sendable {
    private let prefix: String

    /// The prefix of the keys of all clusters.
    package static let root = "/reactord/"
    private static let baseName = "base"

    /// The keys of the cluster `name`, below `/reactord/NAME/`.
    package init(name: String) { prefix = Self.root + "\(name)/" }

    /// The name of the cluster that has its ``base`` under `key`; nil for any other key.
    package static func cluster(withBase key: String) -> String? {
        let suffix = "/" + baseName
        guard key.hasPrefix(root), key.hasSuffix(suffix) else { return nil }
        let name = key.dropFirst(root.count).dropLast(suffix.count)
        return name.isEmpty || name.contains("/") ? nil : String(name)
    }

    /// The leadership: a ``LeaderRecord``. Its mod revision is the term. It is never deleted.
    package var leader: String { prefix + "leader" }
    /// Written by the leader while it appends nothing; the value is empty. Only its mod revision
    /// matters.
    package var beat: String { prefix + "beat" }
    /// The entries: ``LogEntry``. Its version is the number of the last entry.
    package var log: String { prefix + "log" }
    /// The beginning of the history: a ``ClusterOrigin``. It is written once, when the cluster is
    /// founded.
    package var base: String { prefix + Self.baseName }
    /// Written by a node that must read the current state; the value is empty.
    package var probe: String { prefix + "probe" }
    /// The report of a node: a ``NodeReport``. The key's version counts the reports.
    package func node(_ node: ClusterNode) -> String { "\(prefix)node/\(node.index)" }
    /// The prefix of all reports.
    package var nodes: String { prefix + "node/" }
}
