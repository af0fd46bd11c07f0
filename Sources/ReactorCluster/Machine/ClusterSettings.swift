/// The nodes of a cluster, and the times and sizes by which they act. Times are in nanoseconds.
package struct ClusterSettings: Sendable {
    /// This node.
    package let node: ClusterNode
    /// All nodes, in the order of their indices.
    package let nodes: [ClusterNode]
    /// Whether this node may lead.
    package var isCandidate = true
    /// The time without a sign of the leader after which a follower takes over.
    package var takeover: UInt64 = 1_500_000_000
    /// Number of looks that a take-over needs at least.
    package var looksMin = 5
    /// Maximum of the random time that a follower adds to ``takeover``, so that two nodes rarely
    /// try at once.
    package var delayMax: UInt64 = 200_000_000
    /// The time between the looks of a follower.
    package var lookInterval: UInt64 = 200_000_000
    /// The time between the looks of the leader, which needs only the reports.
    package var leaderLookInterval: UInt64 = 1_000_000_000
    /// The time without an append after which a leader sends a beat.
    package var beatInterval: UInt64 = 300_000_000
    /// The time between two reports of a node.
    package var reportInterval: UInt64 = 5_000_000_000
    /// The time after which a call without an answer is repeated.
    package var retryInterval: UInt64 = 50_000_000
    /// The time without a sign of a node after which it counts as lost.
    package var lostAfter: UInt64 = 5_000_000_000
    /// Bytes of entries that the engine keeps for a node that is behind; a node that is further
    /// behind needs a snapshot.
    package var logBytes = 256 << 20

    /// The settings of `node`. *Traps*: if `nodes` does not contain it.
    package init(node: ClusterNode, nodes: [ClusterNode]) {
        precondition(nodes.contains(node), "node \(node.index) is none of the cluster's")
        self.node = node
        self.nodes = nodes.sorted()
    }

    /// Number of nodes that are more than half of all.
    var majority: Int { nodes.count / 2 + 1 }

    /// The time without a confirmation after which a leader stops acting: less than ``takeover``,
    /// so that it has stopped before another starts if their clocks differ by less than a tenth.
    var tenure: UInt64 { takeover - takeover / 10 }

    /// The time without a confirmation after which a leader gives up the leadership: another node
    /// leads by then, if any can.
    var patience: UInt64 { 2 * takeover }
}

extension ClusterSettings {
    /// Nanoseconds between two looks of a node that leads, or that does not.
    func lookInterval(isLeading: Bool) -> UInt64 { isLeading ? leaderLookInterval : lookInterval }
}
