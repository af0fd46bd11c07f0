/// The last report of each node of a cluster, and since when each is silent.
///
/// *Place*: fed by looks. This module does not act on lost nodes: the list is data for the shell.
package struct NodeBook {
    private struct Page {
        var version: UInt64
        var report: NodeReport
        var heardAt: UInt64
        /// About when the report was made; nil if it may have been long before the look.
        var madeAt: UInt64?
    }

    private let settings: ClusterSettings
    private var pages: [ClusterNode: Page] = [:]
    /// Nodes that never reported count as silent since then.
    private var since: UInt64?
    private var lastLook: UInt64?

    init(_ settings: ClusterSettings) { self.settings = settings }

    /// Takes the reports of a look. Reports of nodes outside the configuration are ignored.
    mutating func observe(_ sightings: [NodeSighting], at now: UInt64) {
        since = since ?? now
        let span = lastLook.map { now - min($0, now) }
        lastLook = now
        for sighting in sightings where settings.nodes.contains(sighting.report.node) {
            let node = sighting.report.node
            // A look may be answered with an older state than the look before it.
            let known = pages[node]?.version ?? 0
            guard sighting.version > known else { continue }
            // The node made it between two looks; the first report that a look shows may be old.
            let isTimed = known > 0 && span ?? .max <= 2 * settings.leaderLookInterval
            pages[node] = Page(
                version: sighting.version, report: sighting.report, heardAt: now,
                madeAt: isTimed ? now - (span ?? 0) / 2 : nil)
        }
    }

    /// Starts all measurements of silence again: a new leader gives every node the whole time.
    mutating func forgive(at now: UInt64) {
        since = now
        for node in pages.keys { pages[node]?.heardAt = now }
    }

    /// The last report of each node that has reported.
    package var reports: [NodeReport] { settings.nodes.compactMap { pages[$0]?.report } }

    /// The wall clock of a node at `now`, in milliseconds since 1970, if its last report was made
    /// between two looks that were shortly after one another: wrong by at most half their distance.
    package func wallClock(of node: ClusterNode, at now: UInt64) -> Int64? {
        guard let page = pages[node], let madeAt = page.madeAt else { return nil }
        return page.report.wallClock &+ Int64((now - min(madeAt, now)) / 1_000_000)
    }

    /// How far each node of the configuration has stored the log durably.
    var durable: [LogPosition] {
        settings.nodes.map { pages[$0]?.report.durablePosition ?? .beginning }
    }

    /// Other nodes that gave no sign for longer than ``ClusterSettings/lostAfter``, plus the time
    /// between two reports.
    package func lost(at now: UInt64) -> [ClusterNode] {
        guard let since else { return [] }
        let limit = settings.lostAfter + settings.reportInterval
        return settings.nodes.filter { node in
            node != settings.node && now - min(pages[node]?.heardAt ?? since, now) > limit
        }
    }
}
