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
            it, and only the daemon's user may read it. Every checksum of the copy was verified.

            With --keep, the directory exists and holds one backup for each run, named by its time \
            in UTC: backup-20261124T202400Z. Once the new one is complete, older ones beyond the \
            newest N are removed. Only complete and undamaged backups count, and only such ones \
            are removed; a damaged one is reported with exit code 74.

            With --node, the copy is for another daemon of the same cluster, which continues from \
            it in the same epoch, and gets what happened since from the others. Such a copy is no \
            backup: a daemon that is alone must not start from it.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Option(
        name: .long,
        help: ArgumentHelp(
            "Make a dated backup in the directory, and keep the newest of them.", valueName: "count"
        ))
    var keep: UInt64?

    @Flag(name: .long, help: "Make the copy for another daemon of the same cluster.")
    var node = false

    @Argument(
        help: """
            The new directory, on the daemon's machine, which must not exist yet; with --keep, the \
            existing directory of all backups.
            """)
    var directory: String

    mutating func validate() throws {
        guard keep != 0 else { throw ValidationError("--keep 0: expected 1 or more") }
        guard keep == nil || !node else {
            throw ValidationError("--keep and --node: expected one of them")
        }
    }

    mutating func run() async throws {
        let client = try await connection.connect()
        // The daemon has another working directory, so the path is made absolute.
        let path = try ProcessEnvironment.absolute(directory)
        if let keep { return try await make(in: path, keeping: keep, client) }
        let made = try await Failure.explain { () throws(ClientError) in
            try await client.backup(to: path, forNode: node)
        }
        client.close()
        try Output.line(
            WireValue.json(object: [
                "directory": .text(made.directory), "row": .number(made.row),
                "revision": .text(made.revision.description),
            ]))
    }

    private func make(in folder: String, keeping count: UInt64, _ client: Client) async throws {
        let result = try await Failure.explain { () throws(ClientError) in
            try await client.backup(in: folder, keeping: count)
        }
        client.close()
        try Output.line(
            WireValue.json(object: [
                "directory": .text(result.made.directory), "row": .number(result.made.row),
                "revision": .text(result.made.revision.description),
                "kept": .number(result.kept),
                "removed": .array(result.removed.map { .text($0) }),
            ]))
        guard result.problems.isEmpty else {
            for problem in result.problems { Output.complain(problem) }
            throw Failure(Failure.storageCode, "the backup was made; see above about earlier ones")
        }
    }
}
