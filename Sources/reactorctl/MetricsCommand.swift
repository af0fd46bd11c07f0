import ArgumentParser
import ReactorClient

/// `reactorctl metrics`: prints the daemon's metrics.
struct MetricsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics",
        abstract: "Print the daemon's metrics in the text format of Prometheus.",
        discussion: """
            With `metrics:` in its configuration, the daemon also shows them at a socket for HTTP \
            requests, or in a file for node_exporter.
            """)

    @OptionGroup var connection: ConnectionOptions

    mutating func run() async throws {
        let client = try await connection.connect()
        let text = try await Failure.explain { () throws(ClientError) in
            try await client.metrics()
        }
        client.close()
        // The text ends with a line feed, as each line does.
        try Output.lines(String(text.dropLast()))
    }
}
