import Foundation
import ReactorWire
import Testing

@testable import ReactorDaemon

/// The example configuration that is installed with the daemon, read from the repository.
struct ConfigExampleTests {
    private let file: String
    private let text: String

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        file = root.appending(path: "Config/reactord.yaml").path
        text = try String(contentsOfFile: file, encoding: .utf8)
    }

    @Test("the example has the tree that the README describes")
    func tree() throws {
        let config = try DaemonConfig(file: file)
        let kinds = config.reactors.map { "\($0.name): \($0.kind ?? "-")" }
        #expect(
            kinds == ["visits: counter", "settings: map", "chat: list", "jobs: queue", "team: -"])
        #expect(config.reactors[2].options == ["capacity": .integer(1_000)])
        let team = config.reactors[4].children.map { "\($0.name): \($0.kind ?? "-")" }
        #expect(team == ["presence: presence", "lock: lock"])
    }

    @Test("unchanged, the example sets only the tree, and a data directory")
    func defaults() throws {
        var config = try DaemonConfig(file: file)
        #expect(config.data == DataConfig())
        config.data = nil
        let minimal = try DaemonConfig(yaml: oneReactor, file: file)
        config.reactors = minimal.reactors
        #expect(config == minimal)
    }

    @Test("the example of a cluster is complete, and its optional keys have their defaults")
    func cluster() throws {
        let marked = text.split(separator: "\n", omittingEmptySubsequences: false)
            .drop { $0 != "#   cluster:" }.prefix { $0.hasPrefix("#   ") }
        let section = marked.map { $0.dropFirst(4) }.joined(separator: "\n")
        let config = try DaemonConfig(yaml: "data: {}\n\(section)\n\(oneReactor)", file: file)
        let cluster = try #require(config.cluster)
        let own = try #require(cluster.nodes.first)
        #expect(cluster.nodes.map(\.name) == ["a", "b", "c"])
        #expect(cluster.nodes.allSatisfy { $0.peer == "/run/reactord-peers/\($0.name).sock" })
        #expect(
            cluster
                == ClusterConfig(
                    name: "house", node: own, engine: cluster.engine, nodes: cluster.nodes))
    }

    @Test("with every commented key set, the example means the same, except for the paths")
    func commented() throws {
        let set = text.replacing(/(?m)^( *)#(?=[a-zA-Z]+:)/) { $0.output.1 }
        #expect(set != text)
        var config = try DaemonConfig(yaml: set, file: file)
        #expect(config.socket == "/run/reactord/reactord.sock")
        config.socket = nil
        #expect(config.data?.directory == "/var/lib/reactord")
        #expect(config.data?.dropped.map(\.description) == ["/old", "/team/older"])
        #expect(config.metrics.socket == "/run/reactord/metrics.sock")
        #expect(config.metrics.textfile == "/var/lib/node_exporter/reactord.prom")
        config.metrics = MetricsConfig()
        config.data?.directory = nil
        config.data?.dropped = []
        var plain = try DaemonConfig(file: file)
        // Only the marks may differ, and uncommenting keeps their columns.
        #expect(config.reactors == plain.reactors)
        plain.reactors = config.reactors
        #expect(config == plain)
    }

    @Test("every limit is in the example, and no other key is under limits")
    func limits() {
        let section = text.split(separator: "\nlimits:\n")[1].split(separator: "\nreactors:\n")[0]
        let names = section.matches(of: /(?m)^  #([a-zA-Z]+):/).map { String($0.output.1) }
        #expect(Set(names) == Set(LimitTable.entries.map(\.name)))
        #expect(names.count == LimitTable.entries.count)
    }
}
