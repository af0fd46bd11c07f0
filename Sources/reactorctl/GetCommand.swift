import ArgumentParser
import ReactorClient
import ReactorWire

/// `reactorctl get`: prints a slice's state once.
struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print a slice's state.")

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The reactor, or a field of its state.")
    var path: String

    @Flag(name: .long, help: "Print the revision with the state.")
    var revision = false

    @OptionGroup var past: PastOptions

    @OptionGroup var selecting: SelectionOptions

    mutating func validate() throws {
        guard past.at != nil, try selecting.selection() != nil else { return }
        throw ValidationError("--at has the past, where no children are selected: omit one of them")
    }

    mutating func run() async throws {
        let selection = try selecting.selection()
        let client = try await connection.connect()
        let path = path
        let wanted = past.revision(of: client)
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
