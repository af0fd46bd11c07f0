import ArgumentParser
import ReactorClient
import ReactorLoop
import ReactorWire

/// `reactorctl backup`: makes the daemon copy its history while it runs.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copy the running daemon's history into a new directory.",
        discussion: """
            The copy is a data directory: a daemon that names it under `data: directory:` starts \
            from it, in a new epoch. `reactord doctor` and `reactord replay` read it without \
            changing it. The daemon writes the copy, so it needs permission to create the directory. \
            The copy contains the secrets of sessions: only the daemon's user and root may request \
            it, and only the daemon's user may read it.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The new directory, on the daemon's machine; it must not exist yet.")
    var directory: String

    mutating func run() async throws {
        let client = try await connection.connect()
        // The daemon has another working directory, so the path is made absolute.
        let path = try ProcessEnvironment.absolute(directory)
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
