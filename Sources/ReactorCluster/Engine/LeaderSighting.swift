/// The engine's state at one revision, as a look read it.
package struct LeaderSighting: Equatable, Sendable {
    /// The position of the log's last entry.
    package var head: LogPosition
    /// The mod revision of the leader key; 0 if it does not exist.
    package var term: UInt64
    /// The leader key's value; nil if it does not exist.
    package var leader: LeaderRecord?
    /// The mod revision of the beat key; 0 if it does not exist.
    package var beat: UInt64
    /// The reports of the nodes, in the order of their indices.
    package var nodes: [NodeSighting]

    /// Creates a sighting from the values of one transaction.
    package init(
        head: LogPosition, term: UInt64, leader: LeaderRecord?, beat: UInt64,
        nodes: [NodeSighting]
    ) {
        self.head = head
        self.term = term
        self.leader = leader
        self.beat = beat
        self.nodes = nodes
    }

    /// True if no leader has changed anything between the two sightings.
    package func isUnmoved(since other: LeaderSighting) -> Bool {
        head == other.head && term == other.term && beat == other.beat
    }
}

/// A node's report, as a look read it.
package struct NodeSighting: Equatable, Sendable {
    /// The number of reports of the node so far.
    package var version: UInt64
    /// The last report.
    package var report: NodeReport

    /// Creates a sighting from a key's version and value.
    package init(version: UInt64, report: NodeReport) {
        self.version = version
        self.report = report
    }
}
