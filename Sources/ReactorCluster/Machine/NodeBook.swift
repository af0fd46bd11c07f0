/// The last report of each node of a cluster, and since when each is silent.
///
/// *Place*: fed by looks. This module does not act on lost nodes: the list is data for the shell.
struct NodeBook {
    private struct Page {
        var version: UInt64
        var report: NodeReport
        var heardAt: UInt64
    }

    private let settings: ClusterSettings
    private var pages: [ClusterNode: Page] = [:]
    /// Nodes that never reported count as silent since then.
    private var since: UInt64?

    init(_ settings: ClusterSettings) { self.settings = settings }

    /// Takes the reports of a look. Reports of nodes outside the configuration are ignored.
    mutating func observe(_ sightings: [NodeSighting], at now: UInt64) {
        since = since ?? now
        for sighting in sightings where settings.nodes.contains(sighting.report.node) {
            let node = sighting.report.node
            // A look may be answered with an older state than the look before it.
            guard sighting.version > pages[node]?.version ?? 0 else { continue }
            pages[node] = Page(
                version: sighting.version, report: sighting.report, heardAt: now)
        }
    }

    /// Starts all measurements of silence again: a new leader gives every node the whole time.
    mutating func forgive(at now: UInt64) {
        since = now
        for node in pages.keys { pages[node]?.heardAt = now }
    }

    /// The last report of each node that has reported.
    var reports: [NodeReport] { settings.nodes.compactMap { pages[$0]?.report } }

    /// How far each node of the configuration has stored the log durably.
    var durable: [LogPosition] {
        settings.nodes.map { pages[$0]?.report.durablePosition ?? .beginning }
    }

    /// Other nodes that gave no sign for longer than ``ClusterSettings/lostAfter``, plus the time
    /// between two reports.
    func lost(at now: UInt64) -> [ClusterNode] {
        guard let since else { return [] }
        let limit = settings.lostAfter + settings.reportInterval
        return settings.nodes.filter { node in
            node != settings.node && now - min(pages[node]?.heardAt ?? since, now) > limit
        }
    }
}
