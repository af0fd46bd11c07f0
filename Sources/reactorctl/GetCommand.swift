import ArgumentParser
import ReactorClient
import ReactorWire

/// `reactorctl get`: prints a slice's state once.
struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print a slice's state.",
        discussion: """
            A daemon that follows another one may show a state that is some milliseconds old: \
            --consistent and --at-least have it catch up before.

            Exit codes: 0 printed; 66 there is no value, or the revision is of another history; \
            75 the state was not as recent in time.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The reactor, or a field of its state.")
    var path: String

    @Flag(name: .long, help: "Print the revision with the state.")
    var revision = false

    @OptionGroup var past: PastOptions

    @OptionGroup var recency: SyncOptions

    @OptionGroup var selecting: SelectionOptions

    mutating func validate() throws {
        if past.at != nil, !recency.isEmpty {
            throw ValidationError(
                "--at has the past, which does not change: omit --consistent and --at-least")
        }
        guard past.at != nil, try selecting.selection() != nil else { return }
        throw ValidationError("--at has the past, where no children are selected: omit one of them")
    }

    mutating func run() async throws {
        let selection = try selecting.selection()
        let client = try await connection.connect()
        let path = path
        let wanted = past.revision(of: client)
        try await recency.sync(client)
        let (at, found) = try await Failure.explain(path) { () throws(ClientError) in
            if let selection { return try await client.get(path, selecting: selection) }
            guard let wanted else { return try await client.get(path) }
            return try await client.get(path, at: wanted)
        }
        client.close()
        guard let value = found.map({ selection?.shown($0) ?? $0 }) else {
            throw Failure(
                Failure.noPathCode,
                "there \(wanted == nil ? "is" : "was") no value at \(path)")
        }
        if revision {
            try Output.line(stateLine(at, value))
        } else {
            try Output.value(value, isPretty: true)
        }
    }
}
