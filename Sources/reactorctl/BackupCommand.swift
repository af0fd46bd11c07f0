import ArgumentParser
import ReactorClient
import ReactorLoop
import ReactorWire

/// `reactorctl backup`: has the daemon copy its history while it runs.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the daemon's history, while it runs, into a new directory.",
        discussion: """
            The copy is a data directory: name it under `data: directory:`, and a daemon starts \
            from it, in a new epoch. `reactord doctor` and `reactord replay` look at it as it is. \
            The daemon writes it, so that it must be allowed to where the directory is to be; and \
            because it holds the secrets of sessions, only the daemon's user and root may ask, and \
            only the daemon's user may read it.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The directory, on the daemon's machine; nothing may be there yet.")
    var directory: String

    mutating func run() async throws {
        let client = try await connection.connect()
        // because the daemon stands in another directory than we do
        let path = try ProcessPlace.absolute(directory)
        let made = try await Failure.explain { () throws(ClientError) in
            try await client.backup(to: path)
        }
        client.close()
        try Output.line(
            WireValue.json(object: [
                "directory": .text(made.directory), "row": .number(made.row),
                "revision": .text(made.revision.description),
            ]))
    }
}
