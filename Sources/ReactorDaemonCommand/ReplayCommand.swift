import ArgumentParser
import ReactorCore
import ReactorDaemon

/// `reactord replay`: prints the state that a history replays to.
struct ReplayCommand<Program: DaemonCommand>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "replay",
            abstract: "Print the state that the history replays to.",
            discussion: """
                Changes nothing. The daemon must not be running; for a running daemon, use a backup \
                or `reactorctl get --at`.
                """)
    }

    @ParentCommand var parent: DaemonArguments<Program>
    @OptionGroup var options: DaemonOptions<Program>

    @Argument(
        help: ArgumentHelp(
            "The data directory, if not the configured one; for example a backup.",
            valueName: "directory"))
    var directory: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The revision: epoch:sequence, or a sequence of the last epoch.",
            valueName: "revision"))
    var until: String?

    mutating func run() throws {
        try DaemonOutput<Program>.run {
            let (settings, root) = try options.read(parent)
            let history = try options.history(of: settings, in: directory)
            let (revision, value) = try history.value(of: root, at: until)
            try DaemonOutput<Program>.write([
                WireValue.json(
                    object: ["revision": .text(revision.description), "state": value])
            ])
        }
    }
}
