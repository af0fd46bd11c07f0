import ArgumentParser
import ReactorClient
import ReactorWire

/// `reactorctl stats`: prints the daemon's counters.
struct StatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Print the daemon's counters.")

    @OptionGroup var connection: ConnectionOptions

    @Flag(name: .long, help: "Print one line of JSON, on a terminal too.")
    var json = false

    mutating func run() async throws {
        let client = try await connection.connect()
        let counters = try await Failure.explain { () throws(ClientError) in
            try await client.stats()
        }
        client.close()
        try NumberTable.show(counters, isJSON: json)
    }
}

/// Numbers by name, as a table or as one line of JSON.
enum NumberTable {
    static func show(_ numbers: [String: UInt64], isJSON: Bool) throws(Output.Closed) {
        let rows = numbers.sorted { $0.key < $1.key }
        guard Output.isTerminal, !isJSON else {
            let fields = rows.map { name, number in
                "\(WireValue.text(name).json()):\(number)"
            }
            return try Output.line("{" + fields.joined(separator: ",") + "}")
        }
        let width = (rows.map(\.key.count).max() ?? 0) + 2
        for (name, number) in rows {
            try Output.line(
                name + String(repeating: " ", count: width - name.count) + "\(number)")
        }
    }
}
