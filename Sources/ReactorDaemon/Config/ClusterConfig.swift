package import ReactorCluster
import ReactorWire

/// The daemons on several machines that share one history: the `cluster:` section.
///
/// *Shape*: three or five nodes with distinct names and distinct indices, in the order of their
/// indices; ``node`` is the name of one of them.
public struct ClusterConfig: Equatable, Sendable {
    /// A node of the cluster.
    public struct Member: Equatable, Sendable {
        /// The node's name: 1 to 32 of a to z, 0 to 9 and `-`.
        public let name: String
        /// The node's index, from 1 to 255, which the log knows it by.
        package let node: ClusterNode
        /// The path of the Unix socket at which the node's daemon accepts those of the other nodes.
        /// On another machine, a tunnel to that socket accepts at this path. Nil for a cluster
        /// whose daemons have no links.
        package let peer: String?

        /// Creates a node from its name and index.
        package init(_ name: String, _ node: ClusterNode, peer: String? = nil) {
            self.name = name
            self.node = node
            self.peer = peer
        }
    }

    /// The cluster's name: 1 to 32 of a to z, 0 to 9 and `-`. Its keys in etcd stand below
    /// `/reactord/NAME`.
    public let name: String
    /// The name of this machine's node.
    public let node: String
    /// The path of the Unix socket at which this machine's member of etcd accepts clients.
    public let engine: String
    /// All nodes, in the order of their indices.
    public let nodes: [Member]
    /// The time without a sign of the leader after which a follower takes over.
    public var takeover = Duration.milliseconds(1_500)
    /// The time without a sign of a node after which it counts as lost.
    public var lostAfter = Duration.seconds(5)
    /// Maximum age of the state that a follower gives to clients.
    public var staleMax = Duration.seconds(2)
    /// Bytes of the log that etcd keeps for a node that is behind; a node that is further behind
    /// needs a snapshot.
    public var logBytes = 256 << 20
    /// Whether this node may lead.
    public var isCandidate = true

    private let own: ClusterNode

    /// Creates the default settings of a cluster, on the machine of `own`.
    ///
    /// *Traps*: if `nodes` does not contain it.
    package init(name: String, node own: Member, engine: String, nodes: [Member]) {
        precondition(nodes.contains(own), "node \(own.name) is none of the cluster's")
        self.name = name
        node = own.name
        self.own = own.node
        self.engine = engine
        self.nodes = nodes.sorted { $0.node < $1.node }
    }
}

extension ClusterConfig {
    /// The settings of this machine's node.
    package var settings: ClusterSettings {
        var settings = ClusterSettings(node: own, nodes: nodes.map(\.node))
        settings.isCandidate = isCandidate
        settings.takeover = UInt64(takeover / .nanoseconds(1))
        settings.lostAfter = UInt64(lostAfter / .nanoseconds(1))
        settings.logBytes = logBytes
        return settings
    }

    /// The name of a node; nil if it is none of the cluster's.
    package func name(of node: ClusterNode) -> String? {
        nodes.first { $0.node == node }?.name
    }

    /// The path of a node's peer socket; nil if it has none, or if it is none of the cluster's.
    func peer(of node: ClusterNode) -> String? {
        nodes.first { $0.node == node }?.peer
    }

    /// Whether this node has links to the others.
    package var hasLinks: Bool { peer(of: settings.node) != nil }

    /// The settings, for `reactord --check`.
    var rows: [(String, String)] {
        let others = nodes.filter { $0.node != own }.map { "\($0.name) (\($0.node.index))" }
        let peers = nodes.compactMap { member in
            member.peer.map { "\(member.name) \(ConfigProblem.escaped($0))" }
        }
        return [
            ("name", name), ("node", "\(node) (\(own.index))"),
            ("other nodes", others.joined(separator: ", ")),
            ("engine", ConfigProblem.escaped(engine)),
            ("peers", peers.isEmpty ? "none: no links" : peers.joined(separator: ", ")),
            ("takeover", DurationText.format(takeover)),
            ("lostAfter", DurationText.format(lostAfter)),
            ("staleMax", DurationText.format(staleMax)),
            ("logBytes", ByteSizeText.format(logBytes)),
            ("candidate", isCandidate ? "true" : "false: never leads"),
        ]
    }
}

/// Reads the `cluster:` section.
struct ConfigCluster {
    /// The settings of the section, with the defaults for the optional keys that it does not name;
    /// nil if a key that a cluster needs is missing or has a problem.
    private(set) var cluster: ClusterConfig?
    /// The problems found in the section.
    private(set) var problems: [ConfigProblem] = []

    private var name: String?
    private var engine: String?
    private var nodes: [ClusterConfig.Member]?
    /// The name under `node:`, with its location.
    private var node: (name: String, location: ConfigLocation)?
    private var takeover: Duration?
    private var lostAfter: Duration?
    /// How old a state may be that clients are served; an older one is not served.
    private var staleMax: Duration?
    private var logBytes: Int?
    private var isCandidate: Bool?

    private static let neededKeys = ["name", "engine", "nodes"]
    private static let keys = [
        "name", "node", "engine", "nodes", "takeover", "lostAfter", "staleMax", "logBytes",
        "candidate",
    ]
    private static let nameExpectation = "a name of 1 to 32 letters a to z, digits and -"
    private static let takeoverRange = Duration.milliseconds(500)...Duration.seconds(60)
    private static let lostRange = Duration.seconds(1)...Duration.seconds(3_600)
    private static let staleRange = Duration.milliseconds(500)...Duration.seconds(3_600)
    private static let logRange = (4 << 20)...(1 << 40)

    /// Reads the section; without `node:`, the part of `machine` before the first dot names this
    /// machine's node.
    init(_ section: ConfigSection, machine: String) {
        for entry in section.entries {
            do throws(ConfigProblem) {
                try read(entry, of: section)
            } catch {
                problems.append(error)
            }
        }
        do throws(ConfigProblem) {
            cluster = try make(of: section, machine: machine)
        } catch {
            problems.append(error)
        }
    }

    /// Returns the problems of the section under `entry` with the `data:` section, which it needs
    /// without `durability:`.
    static func conflicts(
        of entry: ConfigSection.Entry, in top: ConfigSection
    ) -> [ConfigProblem] {
        guard let data = top.entries.first(where: { $0.name == "data" }) else {
            return [
                ConfigProblem(
                    "a node of a cluster keeps its history: add `data:`", key: entry.key,
                    at: entry.location)
            ]
        }
        guard let location = ConfigData.durabilityLocation(of: data, in: top.document) else {
            return []
        }
        return [
            ConfigProblem(
                "with `cluster:`, a client gets an outcome once two machines have it: remove the "
                    + "key", key: "\(data.key).durability", at: location)
        ]
    }

    private mutating func read(
        _ entry: ConfigSection.Entry, of section: ConfigSection
    ) throws(ConfigProblem) {
        let scalar = ConfigScalar(entry, in: section.document)
        switch entry.name {
        case "name":
            let text = try scalar.text(expected: Self.nameExpectation)
            guard Self.isName(text) else { throw scalar.problem(expected: Self.nameExpectation) }
            name = text
        case "node":
            let text = try scalar.text(expected: "the name of one of the `nodes:`")
            node = (text, section.document.location(of: entry.value))
        case "engine":
            engine = try ConfigSocket.path(
                scalar, expected: "the absolute path of etcd's Unix socket")
        case "nodes": try readNodes(entry, in: section.document)
        case "takeover": takeover = try scalar.quantity(.duration, in: Self.takeoverRange)
        case "lostAfter": lostAfter = try scalar.quantity(.duration, in: Self.lostRange)
        case "staleMax": staleMax = try scalar.quantity(.duration, in: Self.staleRange)
        case "logBytes": logBytes = try scalar.quantity(.byteSize, in: Self.logRange)
        case "candidate": isCandidate = try scalar.bool()
        default: throw section.unknown(entry, known: Self.keys)
        }
    }

    /// Returns the settings; nil if a key that a cluster needs has a problem already.
    private func make(
        of section: ConfigSection, machine: String
    ) throws(ConfigProblem) -> ClusterConfig? {
        let missing = Self.neededKeys.filter { key in
            !section.entries.contains { $0.name == key }
        }
        guard missing.isEmpty else {
            throw ConfigProblem(
                "a cluster needs name, engine and nodes: add "
                    + missing.map { "`\($0):`" }.joined(separator: ", "),
                key: section.key, at: section.location)
        }
        guard let nodes, let own = try ownNode(among: nodes, of: section, machine: machine),
            let name, let engine
        else { return nil }
        var cluster = ClusterConfig(name: name, node: own, engine: engine, nodes: nodes)
        if let takeover { cluster.takeover = takeover }
        if let lostAfter { cluster.lostAfter = lostAfter }
        if let staleMax { cluster.staleMax = staleMax }
        if let logBytes { cluster.logBytes = logBytes }
        if let isCandidate { cluster.isCandidate = isCandidate }
        return cluster
    }

    /// Returns this machine's node; nil if `node:` has a problem already.
    private func ownNode(
        among nodes: [ClusterConfig.Member], of section: ConfigSection, machine: String
    ) throws(ConfigProblem) -> ClusterConfig.Member? {
        let isNamed = section.entries.contains { $0.name == "node" }
        guard isNamed == (node != nil) else { return nil }
        // Names of nodes have no dots, so the whole name of a machine in a domain is never one.
        let (wanted, location) = node ?? (String(machine.prefix { $0 != "." }), section.location)
        if let own = nodes.first(where: { $0.name == wanted }) { return own }
        var problem = ConfigProblem.unknown(
            "node", wanted, known: nodes.map(\.name), key: "\(section.key).node", at: location)
        if !isNamed {
            problem.reason =
                "without the key it is the machine's name, \(ConfigProblem.quoted(machine)): "
                + problem.reason
        }
        throw problem
    }
}

// MARK: Nodes

extension ConfigCluster {
    private mutating func readNodes(
        _ entry: ConfigSection.Entry, in document: ConfigDocument
    ) throws(ConfigProblem) {
        let section = try ConfigSection(
            entry, in: document, expected: "nodes such as `a: { index: 1 }`")
        var members: [ClusterConfig.Member] = []
        var found = section.problems { (entry) throws(ConfigProblem) in
            let member = try Self.member(entry, beside: members, in: document)
            members.append(member)
        }
        if let reason = Self.refusal(ofCount: section.entries.count) {
            found.append(
                ConfigProblem(
                    expected: "three or five nodes", got: "\(section.entries.count): \(reason)",
                    key: entry.key, at: entry.location))
        }
        found += Self.missingPeers(of: members, in: section)
        if found.isEmpty { nodes = members }
        problems += found
    }

    private static func member(
        _ entry: ConfigSection.Entry, beside others: [ClusterConfig.Member],
        in document: ConfigDocument
    ) throws(ConfigProblem) -> ClusterConfig.Member {
        guard isName(entry.name) else {
            throw ConfigProblem(
                expected: nameExpectation, got: ConfigProblem.quoted(entry.name), key: entry.key,
                at: entry.location)
        }
        let section = try ConfigSection(entry, in: document, expected: "`index:`")
        var (node, peer): (ClusterNode?, String?)
        for key in section.entries {
            let scalar = ConfigScalar(key, in: document)
            guard key.name == "index" else {
                guard key.name == "peer" else {
                    throw section.unknown(key, known: ["index", "peer"])
                }
                peer = try Self.peer(scalar, beside: others)
                continue
            }
            let index = ClusterNode(UInt8(try scalar.quantity(.count, in: 1...255)))
            if let other = others.first(where: { $0.node == index }) {
                throw scalar.problem(
                    "index \(index.index) is that of node \(other.name) too: each has its own")
            }
            node = index
        }
        guard let node else {
            throw ConfigProblem(
                "a node needs index: add `index:` from 1 to 255", key: entry.key,
                at: entry.location)
        }
        return ClusterConfig.Member(entry.name, node, peer: peer)
    }

    /// The path under `peer:` of a node.
    private static func peer(
        _ scalar: ConfigScalar, beside others: [ClusterConfig.Member]
    ) throws(ConfigProblem) -> String {
        let path = try ConfigSocket.path(
            scalar, expected: "the absolute path of the Unix socket for the other daemons")
        if let other = others.first(where: { $0.peer == path }) {
            throw scalar.problem(
                "the path is that of node \(other.name) too: each has its own")
        }
        return path
    }

    /// A problem for each node without `peer:`, if another node has it.
    private static func missingPeers(
        of members: [ClusterConfig.Member], in section: ConfigSection
    ) -> [ConfigProblem] {
        guard let first = members.first(where: { $0.peer != nil }) else { return [] }
        return section.entries.filter { entry in
            members.contains { $0.name == entry.name && $0.peer == nil }
        }.map { entry in
            ConfigProblem(
                "node \(first.name) has `peer:`, and this node has none: add it here, or remove it "
                    + "from all nodes", key: entry.key, at: entry.location)
        }
    }

    /// The reason why a cluster cannot have this number of nodes; nil if it can.
    private static func refusal(ofCount count: Int) -> String? {
        switch count {
        case 3, 5: nil
        case 0, 1: "a daemon on one machine needs no `cluster:`"
        case 2: "with two, the loss of either stops both"
        case 4: "with four, no more losses are survived than with three"
        default: "more than five are not supported"
        }
    }

    /// Whether a text can be a part of a key in etcd.
    private static func isName(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || byte == UInt8(ascii: "-")
            }
    }
}
