/// Answer to ``Question/cluster``: a daemon's part in its cluster.
@WireCodable
@MemberwiseInit
package struct ClusterStatus: Equatable, Sendable {
    /// The cluster's name.
    package var cluster: String
    /// The name of the node that answers.
    package var node: String
    /// What the node does.
    package var role: ClusterRoleName
    /// Whether it serves no client, as it does not know how old its state is.
    package var isCut: Bool
    /// The name of the node that leads, as far as this one knows.
    package var leader: String?
    /// The engine's revision at which the leadership began; 0 if none has.
    package var term: UInt64
    /// The last row of the node's tree that the log has.
    package var applied: UInt64
    /// The last row in the node's own file.
    package var stored: UInt64
    /// Rows that the node has decided on, and the log does not have.
    package var waiting: UInt64
    /// The age of the node's state in milliseconds: at most this time ago, the log ended with the
    /// last row that the node has. Null if the node does not know.
    package var age: UInt64?
    /// The reason why the engine does not answer; null if it does.
    package var outage: String?
    /// Leaderships of this process.
    package var promotions: UInt64
    /// How many of them have ended.
    package var depositions: UInt64
    /// The nodes of the configuration, in the order of their indices.
    package var nodes: [ClusterNodeStatus]
    /// Why the actions of clients here do not reach the leader; null if they do, or are refused.
    package var link: String? = nil
    /// Rows that wait in memory for space on the node's disk; 0 unless that is or was full.
    package var unstored: UInt64 = 0
}

/// What a node does in its cluster.
@WireCodable
package enum ClusterRoleName: String, CaseIterable, Sendable {
    /// It applies the leader's rows.
    case following
    /// It has asked the engine for the leadership.
    case candidate
    /// It decides on actions.
    case leading
    /// It leads, and has had no confirmation for so long that another node may lead.
    case suspended
    /// It hands over the leadership.
    case steppingDown
    /// It is too far behind to continue from the log.
    case awaitingSnapshot
    /// It has stopped for a fault.
    case stopped
}

extension ClusterStatus {
    /// Whether a node has other reactors than the node that leads; nil if that is not known.
    package func differs(_ node: ClusterNodeStatus) -> Bool? {
        let leading = nodes.first { $0.name == leader }?.fingerprint ?? 0
        return leading == 0 || node.fingerprint == 0 ? nil : node.fingerprint != leading
    }
}

/// A node of a cluster, by its last report.
@WireCodable
@MemberwiseInit
package struct ClusterNodeStatus: Equatable, Sendable {
    /// The node's name.
    package var name: String
    /// Its number, which no other node ever gets.
    package var index: UInt8
    /// Counts the starts of its daemon; 0 if it has never reported.
    package var incarnation: UInt64
    /// The last row that its tree had at the report.
    package var applied: UInt64
    /// The last row in its file.
    package var stored: UInt64
    /// The last row that survives a power cut of the node.
    package var durable: UInt64
    /// Its wall clock at the answer by its last report, in milliseconds since 1970; null if the time
    /// of that report is not known.
    package var time: Int64?
    /// Whether its reports have not come for too long.
    package var isLost: Bool
    /// The fingerprint of its reactors: their places, and the schemas of their types; 0 if it is not
    /// known.
    package var fingerprint: UInt64 = 0
}
