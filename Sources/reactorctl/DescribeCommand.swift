import ArgumentParser
import ReactorClient
import ReactorWire

/// `reactorctl describe`: prints a reactor's actions and state.
struct DescribeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "describe", abstract: "Print a reactor's actions and state, or the limits.")

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The reactor.")
    var path: String?

    @Flag(name: .long, help: "Print the daemon's limits instead.")
    var limits = false

    @Flag(name: .long, help: "Print one line of JSON, on a terminal too.")
    var json = false

    mutating func validate() throws {
        if (path == nil) != limits { throw ValidationError("expected a PATH, or --limits") }
    }

    mutating func run() async throws {
        let client = try await connection.connect()
        guard let path else {
            let limits = try await Failure.explain { () throws(ClientError) in
                try await client.limits()
            }
            client.close()
            return try NumberTable.show(limits, isJSON: json)
        }
        let description = try await client.describeReactor(path)
        client.close()
        if json || !Output.isTerminal {
            try Output.value(try WireValue(wireBytes: description.wireBytes()))
        } else {
            for line in SchemaText(description).lines { try Output.lines(line) }
        }
    }
}
