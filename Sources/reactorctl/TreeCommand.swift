import ArgumentParser
import ReactorClient
import ReactorWire

/// `reactorctl tree`: prints all reactors.
struct TreeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tree", abstract: "Print all reactors.")

    @OptionGroup var connection: ConnectionOptions

    @Flag(name: .long, help: "Print a line of JSON per reactor, on a terminal too.")
    var json = false

    mutating func run() async throws {
        let client = try await connection.connect()
        let entries = try await Failure.explain { () throws(ClientError) in
            try await client.tree()
        }
        client.close()
        for entry in entries {
            try Output.line(
                json || !Output.isTerminal ? Self.json(entry) : Self.indented(entry, entries))
        }
    }

    private static func json(_ entry: TreeEntry) -> String {
        WireValue.json(object: [
            "path": .text(entry.path), "reactor": .text(entry.reactor),
            "sequence": .number(entry.sequence),
        ])
    }

    private static func indented(_ entry: TreeEntry, _ all: [TreeEntry]) -> String {
        let parts = entry.path.split(separator: "/")
        let indent = String(repeating: "  ", count: parts.count)
        let name = indent + (parts.last.map(String.init) ?? "/")
        let width = (all.map { $0.path.count }.max() ?? 0) + 8
        let padding = String(repeating: " ", count: max(1, width - name.count))
        let sequence = entry.sequence == 0 ? "" : "  changed at \(entry.sequence)"
        return name + padding + entry.reactor + sequence
    }
}
