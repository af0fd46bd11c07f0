import ArgumentParser
import ReactorClient
import ReactorWire

/// `reactorctl snapshot`: makes the daemon take a snapshot.
struct SnapshotCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot",
        abstract: "Make the daemon take a snapshot of its state, so that its next start is fast.")

    @OptionGroup var connection: ConnectionOptions

    mutating func run() async throws {
        let client = try await connection.connect()
        let made = try await Failure.explain { () throws(ClientError) in
            try await client.snapshot()
        }
        client.close()
        try Output.line(
            WireValue.json(object: [
                "row": .number(made.row), "revision": .text(made.revision.description),
                "file": .text(made.file),
            ]))
    }
}
