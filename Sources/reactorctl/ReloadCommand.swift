import ArgumentParser
import ReactorClient
import ReactorWire

/// `reactorctl reload`: makes the daemon read its configuration again.
struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Make the daemon read its configuration file again, and apply it.",
        discussion: """
            Only for the daemon's user and root. The daemon applies all new values that need no \
            restart, or none if the file has a problem. Prints the keys with new values: those \
            that apply, and those that need a restart. SIGHUP does the same, with the result in \
            the daemon's log.

            Exit codes: 0 all new values apply; 65 the file has problems, and nothing was changed; \
            66 the daemon has no configuration file; 75 applied, except for values that need a \
            restart.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Flag(name: .long, help: "Only read and compare: change nothing.")
    var dryRun = false

    mutating func run() async throws {
        let client = try await connection.connect()
        let isDryRun = dryRun
        let report = try await Failure.explain { () throws(ClientError) in
            try await client.reload(isDryRun: isDryRun)
        }
        client.close()
        if !report.problems.isEmpty {
            for problem in report.problems { Output.complain(problem) }
            throw Failure(Failure.badConfigCode, "nothing was changed: the file has problems")
        }
        try Output.line(
            WireValue.json(object: [
                "applied": .array(report.applied.map { .text($0) }),
                "needsRestart": .array(report.needsRestart.map { .text($0) }),
            ]))
        guard report.needsRestart.isEmpty else {
            let keys = report.needsRestart.joined(separator: ", ")
            throw Failure(Failure.unfinishedCode, "a restart of the daemon is needed for \(keys)")
        }
    }
}
