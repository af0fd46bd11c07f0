import ReactorCluster
import Testing

@testable import ReactorDaemon

/// Drives ``ClusterConfig`` and ``ConfigCluster``.
@Suite("The cluster in the configuration")
struct ClusterConfigTests {
    private let three = "a: { index: 1 }, b: { index: 2 }, c: { index: 3 }"

    /// A configuration with the keys that a cluster needs, and others. Its lines are `data:`,
    /// `cluster:`, the name, the engine, the nodes, and `others`.
    private func text(nodes: String? = nil, _ others: String = "") -> String {
        """
        data: { directory: /d }
        cluster:
          name: house
          engine: /run/etcd/localhost:12379
          nodes: { \(nodes ?? three) }
          \(others)
        \(oneReactor)
        """
    }

    private func cluster(_ text: String, machine: String = "a") throws -> ClusterConfig {
        let config = try DaemonConfig(yaml: text, file: "r.yaml", machine: machine)
        return try #require(config.cluster)
    }

    /// The lines of the error for a configuration that must be refused.
    private func refusals(
        _ text: String, machine: String = "a", sourceLocation: SourceLocation = #_sourceLocation
    ) -> [String] {
        let error = #expect(throws: ConfigError.self, sourceLocation: sourceLocation) {
            try DaemonConfig(yaml: text, file: "r.yaml", machine: machine)
        }
        return error.map { $0.problems.map(\.description) } ?? []
    }

    @Test("without the section a daemon is alone")
    func alone() throws {
        #expect(try DaemonConfig(yaml: oneReactor, file: "r.yaml").cluster == nil)
        #expect(DaemonConfig().cluster == nil)
    }

    @Test("name, engine and nodes are enough: the rest has defaults")
    func defaults() throws {
        let cluster = try cluster(text())
        #expect(cluster.name == "house" && cluster.engine == "/run/etcd/localhost:12379")
        #expect(cluster.node == "a" && cluster.isCandidate)
        #expect(cluster.nodes.map(\.name) == ["a", "b", "c"])
        #expect(cluster.takeover == .milliseconds(1_500) && cluster.lostAfter == .seconds(5))
        #expect(cluster.staleMax == .seconds(2) && cluster.logBytes == 256 << 20)
        let standard = ClusterSettings(
            node: ClusterNode(1), nodes: [ClusterNode(1), ClusterNode(2), ClusterNode(3)])
        #expect(cluster.settings.takeover == standard.takeover)
        #expect(cluster.settings.lostAfter == standard.lostAfter)
        #expect(cluster.settings.logBytes == standard.logBytes)
        #expect(cluster.settings.isCandidate)
    }

    @Test("every key is read, and the settings of the node have their values")
    func keys() throws {
        let cluster = try cluster(
            """
            cluster:
              node: b
              takeover: 3s
              lostAfter: 2m
              staleMax: 700ms
              logBytes: 4MiB
              candidate: false
              name: h-2
              engine: /run/e
              nodes: { c: { index: 255 }, e-5: { index: 5 }, b: { index: 2 }, d: { index: 4 }, \
            a: { index: 1 } }
            data: {}
            \(oneReactor)
            """)
        #expect(cluster.name == "h-2" && cluster.node == "b" && cluster.engine == "/run/e")
        #expect(cluster.nodes.map(\.name) == ["a", "b", "d", "e-5", "c"])
        #expect(cluster.nodes.map(\.node.index) == [1, 2, 4, 5, 255])
        #expect(cluster.takeover == .seconds(3) && cluster.lostAfter == .seconds(120))
        #expect(cluster.staleMax == .milliseconds(700) && cluster.logBytes == 4 << 20)
        let settings = cluster.settings
        #expect(settings.node == ClusterNode(2) && !settings.isCandidate)
        #expect(settings.nodes.map(\.index) == [1, 2, 4, 5, 255])
        #expect(settings.takeover == 3_000_000_000 && settings.lostAfter == 120_000_000_000)
        #expect(settings.logBytes == 4 << 20)
        #expect(cluster.name(of: ClusterNode(255)) == "c")
        #expect(cluster.name(of: ClusterNode(3)) == nil)
    }

    @Test("without the key the node has the machine's name, up to its first dot")
    func machine() throws {
        #expect(try cluster(text(), machine: "b").node == "b")
        #expect(try cluster(text(), machine: "c.house.example").settings.node == ClusterNode(3))
        #expect(try cluster(text("node: a"), machine: "b").node == "a")
    }

    @Test("a machine that is none of the nodes is refused with its name and the nearest node's")
    func otherMachine() {
        #expect(
            refusals(text(), machine: "mars.example") == [
                "r.yaml:3:3: cluster.node: without the key it is the machine's name, "
                    + "\"mars.example\": unknown node \"mars\", expected one of a, b, c"
            ])
        let nodes = "mars: { index: 1 }, venus: { index: 2 }, luna: { index: 3 }"
        #expect(
            refusals(text(nodes: nodes), machine: "Mars") == [
                "r.yaml:3:3: cluster.node: without the key it is the machine's name, \"Mars\": "
                    + "unknown node \"Mars\", did you mean mars?"
            ])
        #expect(
            refusals(text(nodes: nodes, "node: lunar"), machine: "mars") == [
                "r.yaml:6:9: cluster.node: unknown node \"lunar\", did you mean luna?"
            ])
    }

    @Test(
        "other numbers of nodes than three and five are refused with the reason",
        arguments: [
            (0, "a daemon on one machine needs no `cluster:`"),
            (1, "a daemon on one machine needs no `cluster:`"),
            (2, "with two, the loss of either stops both"),
            (4, "with four, no more losses are survived than with three"),
            (6, "more than five are not supported"), (7, "more than five are not supported"),
        ])
    func count(count: Int, reason: String) {
        let nodes = (0..<count).map { "n\($0): { index: \($0 + 1) }" }
        #expect(
            refusals(text(nodes: nodes.joined(separator: ", "))) == [
                "r.yaml:5:3: cluster.nodes: expected three or five nodes, got \(count): \(reason)"
            ])
    }

    @Test(
        "a mistake in a node is reported with its line, its key and what is expected",
        arguments: [
            (
                "c: { index: 2 }",
                "cluster.nodes.c.index: index 2 is that of node b too: each has its own"
            ),
            ("c: { index: 0 }", "cluster.nodes.c.index: expected 1 to 255, got \"0\""),
            ("c: { index: 256 }", "cluster.nodes.c.index: expected 1 to 255, got \"256\""),
            ("c: { index: one }", "cluster.nodes.c.index: expected a whole number, got \"one\""),
            ("c: { indx: 3 }", "cluster.nodes.c: unknown key \"indx\", did you mean index?"),
            (
                "c: { index: 3, pear: /c }",
                "cluster.nodes.c: unknown key \"pear\", did you mean peer?"
            ),
            (
                "c: { index: 3, peer: c.sock }",
                "cluster.nodes.c.peer: socket path \"c.sock\" is relative, expected an absolute "
                    + "path"
            ),
            (
                "c: { index: 3, peer: [/c] }",
                "cluster.nodes.c.peer: expected the absolute path of the Unix socket for the other "
                    + "daemons, got a list"
            ),
            ("c: {}", "cluster.nodes.c: a node needs index: add `index:` from 1 to 255"),
            ("c: 3", "cluster.nodes.c: expected `index:`, got \"3\""),
            (
                "C: { index: 3 }",
                "cluster.nodes.C: expected a name of 1 to 32 letters a to z, digits and -, got \"C\""
            ),
        ])
    func node(node: String, reason: String) {
        let lines = refusals(text(nodes: "a: { index: 1 }, b: { index: 2 }, \(node)"))
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("r.yaml:5:") == true)
        #expect(lines.first?.hasSuffix(": \(reason)") == true, "\(lines)")
    }

    @Test(
        "an optional key with a wrong value is refused with its line and the limits",
        arguments: [
            ("takeover: 499ms", "cluster.takeover: expected 500ms to 1m, got \"499ms\""),
            ("takeover: 61s", "cluster.takeover: expected 500ms to 1m, got \"61s\""),
            ("lostAfter: 999ms", "cluster.lostAfter: expected 1s to 1h, got \"999ms\""),
            ("staleMax: 499ms", "cluster.staleMax: expected 500ms to 1h, got \"499ms\""),
            ("staleMax: 61m", "cluster.staleMax: expected 500ms to 1h, got \"61m\""),
            ("logBytes: 4095KiB", "cluster.logBytes: expected 4MiB to 1024GiB, got \"4095KiB\""),
            ("candidate: no", "cluster.candidate: expected true or false, got \"no\""),
            (
                "node: [a]", "cluster.node: expected the name of one of the `nodes:`, got a list"
            ),
            ("canditate: true", "cluster: unknown key \"canditate\", did you mean candidate?"),
        ])
    func optional(key: String, reason: String) {
        let lines = refusals(text(key))
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("r.yaml:6:") == true)
        #expect(lines.first?.hasSuffix(": \(reason)") == true, "\(lines)")
    }

    @Test(
        "a name that cannot be part of a key, and a path that is no socket's, are refused",
        arguments: [
            ("name: House", "r.yaml:3:9: cluster.name: expected a name of 1 to 32 letters a to z"),
            ("name: a/b", "r.yaml:3:9: cluster.name: expected a name of 1 to 32 letters a to z"),
            ("name: \"\"", "r.yaml:3:9: cluster.name: expected a name of 1 to 32 letters a to z"),
            (
                "name: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "r.yaml:3:9: cluster.name: expected a name of 1 to 32 letters a to z"
            ),
            (
                "engine: run/etcd",
                "r.yaml:4:11: cluster.engine: socket path \"run/etcd\" is relative, "
                    + "expected an absolute path"
            ),
            (
                "engine:",
                "r.yaml:4:3: cluster.engine: expected the absolute path of etcd's Unix socket, "
                    + "got nothing"
            ),
        ])
    func needed(key: String, reason: String) {
        let name = key.prefix { $0 != ":" }
        let lines = text().split(separator: "\n").map { line in
            line.hasPrefix("  \(name):") ? "  \(key)" : String(line)
        }
        let found = refusals(lines.joined(separator: "\n"))
        #expect(found.count == 1 && found[0].hasPrefix(reason), "\(found)")
    }

    @Test("a section without a key that a cluster needs is refused with the missing keys")
    func missing() {
        #expect(
            refusals("data: {}\ncluster:\n" + oneReactor) == [
                "r.yaml:2:9: cluster: a cluster needs name, engine and nodes: "
                    + "add `name:`, `engine:`, `nodes:`"
            ])
        #expect(
            refusals("data: {}\ncluster: { nodes: { \(three) }, name: h }\n" + oneReactor) == [
                "r.yaml:2:10: cluster: a cluster needs name, engine and nodes: add `engine:`"
            ])
        #expect(
            refusals("data: {}\ncluster: house\n" + oneReactor) == [
                "r.yaml:2:10: cluster: expected keys such as `nodes:`, got \"house\""
            ])
    }

    @Test("all mistakes are reported together")
    func allAtOnce() {
        let lines = refusals(text(nodes: "a: { index: 0 }, B: {}", "takeover: 1\n  node: x"))
        #expect(lines.map { $0.dropFirst(7).prefix(1) } == ["5", "5", "5", "6"])
    }

    @Test("each node has its peer socket, or none has, and the summary names them")
    func peers() throws {
        let nodes = "a: { index: 1, peer: /p/a }, c: { peer: /p/c, index: 3 }, "
        let all = try cluster(text(nodes: nodes + "b: { index: 2, peer: /p/b }"))
        #expect(all.nodes.map(\.peer) == ["/p/a", "/p/b", "/p/c"])
        #expect(all.peer(of: ClusterNode(3)) == "/p/c" && all.peer(of: ClusterNode(4)) == nil)
        #expect(all.rows.contains { $0 == ("peers", "a /p/a, b /p/b, c /p/c") })
        let none = try cluster(text())
        #expect(none.nodes.allSatisfy { $0.peer == nil } && none.peer(of: ClusterNode(1)) == nil)
        #expect(none.rows.contains { $0 == ("peers", "none: no links") })
    }

    @Test("a node without a peer socket is refused with its line if another node has a socket")
    func somePeers() {
        let lines = refusals(
            text(nodes: "a: { index: 1 }, b: { index: 2, peer: /p/b }, c: { index: 3 }"))
        let reason =
            "node b has `peer:`, and this node has none: add it here, or remove it from all nodes"
        #expect(
            lines == [
                "r.yaml:5:12: cluster.nodes.a: \(reason)",
                "r.yaml:5:58: cluster.nodes.c: \(reason)",
            ])
    }

    @Test("two nodes with the same peer socket are refused")
    func samePeer() {
        let nodes =
            "a: { index: 1, peer: /p }, b: { index: 2, peer: /p }, c: { index: 3, peer: /c }"
        #expect(
            refusals(text(nodes: nodes)) == [
                "r.yaml:5:60: cluster.nodes.b.peer: the path is that of node a too: each has its "
                    + "own"
            ])
    }

    @Test("a cluster needs `data:`, without `durability:`, above or below it")
    func data() throws {
        let alone = text().split(separator: "\n").dropFirst().joined(separator: "\n")
        #expect(
            refusals(alone) == [
                "r.yaml:1:1: cluster: a node of a cluster keeps its history: add `data:`"
            ])
        for durability in ["strict", "relaxed"] {
            #expect(
                refusals(alone + "\ndata:\n  durability: \(durability)\n") == [
                    "r.yaml:8:3: data.durability: with `cluster:`, a client gets an "
                        + "outcome once two machines have it: remove the key"
                ])
        }
        #expect(try cluster(alone + "\ndata:\n").node == "a")
        let strict = "data: { durability: strict }\n"
        #expect(try DaemonConfig(yaml: strict + oneReactor, file: "r.yaml").data != nil)
    }

    @Test("a reload names the changed keys of the cluster, and all need a restart")
    func reload() throws {
        func change(_ former: String, _ wanted: String) throws -> [String] {
            let former = try DaemonConfig(yaml: former, file: "r.yaml", machine: "a")
            let wanted = try DaemonConfig(yaml: wanted, file: "r.yaml", machine: "a")
            let change = ConfigChange(of: former, to: wanted)
            #expect(change.applied == [] && change.config == former)
            return change.needsRestart
        }
        let alone = "data: { directory: /d }\n" + oneReactor
        #expect(try change(alone, text()) == ["cluster"])
        #expect(try change(text(), alone) == ["cluster"])
        let moved = "b: { index: 2 }, c: { index: 3 }, a: { index: 1 }"
        #expect(try change(text(), text(nodes: moved, "node: a")) == [])
        let renamed = text(nodes: "a: { index: 1 }, b: { index: 2 }, d: { index: 3 }")
        #expect(try change(text(), renamed) == ["cluster.nodes"])
        let linked = "a: { index: 1, peer: /a }, b: { index: 2, peer: /b }, "
        let peers = text(nodes: linked + "c: { index: 3, peer: /c }")
        #expect(try change(text(), peers) == ["cluster.nodes"])
        let others = """
            node: b
              takeover: 2s
              lostAfter: 6s
              staleMax: 3s
              logBytes: 8MiB
              candidate: false
            """
        let wanted = text(others).replacing("house", with: "home").replacing("/run", with: "/r")
        #expect(
            try change(text(), wanted) == [
                "cluster.name", "cluster.node", "cluster.engine", "cluster.takeover",
                "cluster.lostAfter", "cluster.staleMax", "cluster.logBytes", "cluster.candidate",
            ])
    }

    @Test("the rows of the summary name the cluster, this node and the others")
    func rows() throws {
        let rows = try cluster(text("candidate: false"), machine: "b").rows
        for row in [
            ("name", "house"), ("node", "b (2)"), ("other nodes", "a (1), c (3)"),
            ("engine", "/run/etcd/localhost:12379"), ("takeover", "1500ms"), ("lostAfter", "5s"),
            ("staleMax", "2s"), ("logBytes", "256MiB"), ("candidate", "false: never leads"),
        ] {
            #expect(rows.contains { $0 == row }, "missing: \(row)")
        }
        #expect(try cluster(text()).rows.contains { $0 == ("candidate", "true") })
    }
}
