import ReactorWire

/// A daemon's part in its cluster, as text for people and as JSON.
///
/// *Shape*: one line about the node that answered, one about an outage if there is one, one about
/// nodes with other reactors than the leader if there are some, then a table of all nodes. The row
/// of the node that answered is as of the answer, the others as of the nodes' last reports.
struct ClusterTable {
    private let status: ClusterStatus
    private let nodes: [Node]

    private struct Node {
        let name: String
        let index: UInt8
        let isLeader: Bool
        /// Whether it is the node that answered.
        let isOwn: Bool
        /// Whether it has other reactors than the leader; nil if that is not known.
        let differs: Bool?
        /// What it has; nil if it has never reported.
        let progress: Progress?
        let isLost: Bool
    }

    private struct Progress {
        let applied: UInt64
        /// Rows that another node has applied and this one has not.
        let behind: UInt64
        let stored: UInt64
        let durable: UInt64
        /// Milliseconds by which its wall clock is ahead of that of the node that answered; nil if
        /// that is not known.
        let clock: Int64?
    }

    /// Describes an answer; `time` is the wall clock of the node that answered, in milliseconds
    /// since 1970.
    init(_ status: ClusterStatus, at time: Int64) {
        self.status = status
        let highest = status.nodes.map(\.applied).reduce(status.applied, max)
        nodes = status.nodes.map { node in
            let isOwn = node.name == status.node
            let applied = isOwn ? status.applied : node.applied
            let isKnown = isOwn || node.incarnation > 0
            return Node(
                name: node.name, index: node.index, isLeader: node.name == status.leader,
                isOwn: isOwn, differs: status.differs(node),
                progress: isKnown
                    ? Progress(
                        applied: applied, behind: highest - applied,
                        stored: isOwn ? status.stored : node.stored, durable: node.durable,
                        clock: isOwn ? 0 : node.time.map { $0 &- time }) : nil,
                isLost: node.isLost)
        }
    }
}

// MARK: - Text
extension ClusterTable {
    /// The lines for people.
    var lines: [String] {
        var lines = [summary]
        if let outage = status.outage { lines.append("the engine does not answer: \(outage)") }
        if let link = status.link { lines.append("actions wait for a link to the leader: \(link)") }
        if status.unstored > 0 {
            lines.append("the disk is full: \(status.unstored) rows wait in memory for space")
        }
        let others = nodes.filter { $0.differs ?? false }.map(\.name)
        if !others.isEmpty {
            lines.append("other reactors than the leader's: \(others.joined(separator: ", "))")
        }
        return lines + TextTable.lines([Self.titles] + nodes.map(Self.cells))
    }

    private var summary: String {
        let facts = [
            status.role.words, status.leader.map { "leader \($0)" } ?? "no leader is known",
            status.isCut ? "serves no clients" : "serves clients",
            status.age.map { "state \($0)ms old" } ?? "age of the state unknown",
            "\(status.waiting) \(status.waiting == 1 ? "row" : "rows") waiting",
        ]
        return "node \(status.node) of cluster \(status.cluster): " + facts.joined(separator: ", ")
    }

    private static let titles = [
        "NODE", "INDEX", "ROLE", "APPLIED", "BEHIND", "STORED", "DURABLE", "CLOCK",
        "REACTORS", "LOST",
    ]

    private static func cells(of node: Node) -> [String] {
        let roles = [node.isLeader ? "leader" : nil, node.isOwn ? "this" : nil]
        let figures =
            node.progress.map {
                [
                    "\($0.applied)", "\($0.behind)", "\($0.stored)", "\($0.durable)",
                    $0.clock.map { "\($0 > 0 ? "+" : "")\($0)ms" } ?? "-",
                ]
            } ?? Array(repeating: "-", count: 5)
        return [node.name, "\(node.index)", roles.compactMap { $0 }.joined(separator: ", ")]
            + figures
            + [node.differs.map { $0 ? "differ" : "same" } ?? "-", node.isLost ? "lost" : ""]
    }
}

extension ClusterRoleName {
    /// The role in words.
    fileprivate var words: String {
        switch self {
        case .following: "following"
        case .candidate: "asking for the leadership"
        case .leading: "leading"
        case .suspended: "leading without confirmation"
        case .steppingDown: "handing over"
        case .awaitingSnapshot: "too far behind"
        case .stopped: "stopped"
        }
    }
}

// MARK: - JSON
extension ClusterTable {
    /// The same as one line of JSON.
    var json: String {
        WireValue.json(object: [
            "cluster": .text(status.cluster), "node": .text(status.node),
            "role": .text(status.role.rawValue), "leader": Self.text(status.leader),
            "servesClients": .bool(!status.isCut), "term": .number(status.term),
            "applied": .number(status.applied), "stored": .number(status.stored),
            "waiting": .number(status.waiting),
            "ageMilliseconds": status.age.map { .number($0) } ?? .null,
            "outage": Self.text(status.outage), "link": Self.text(status.link),
            "unstored": .number(status.unstored),
            "promotions": .number(status.promotions),
            "depositions": .number(status.depositions),
            "nodes": .array(zip(status.nodes, nodes).map(Self.value)),
        ])
    }

    private static func text(_ text: String?) -> WireValue { text.map { .text($0) } ?? .null }

    /// A node as an object; without the figures if it has never reported.
    private static func value(_ status: ClusterNodeStatus, _ node: Node) -> WireValue {
        var map: WireMap = [:]
        map["name"] = .text(node.name)
        map["index"] = .number(UInt64(node.index))
        map["leader"] = .bool(node.isLeader)
        map["this"] = .bool(node.isOwn)
        map["lost"] = .bool(node.isLost)
        map["incarnation"] = .number(status.incarnation)
        map["sameReactorsAsLeader"] = node.differs.map { .bool(!$0) } ?? .null
        guard let progress = node.progress else { return .map(map) }
        map["applied"] = .number(progress.applied)
        map["behind"] = .number(progress.behind)
        map["stored"] = .number(progress.stored)
        map["durable"] = .number(progress.durable)
        map["clockMilliseconds"] =
            progress.clock.map { .integer(WireInteger(integerLiteral: Int128($0))) } ?? .null
        return .map(map)
    }
}
