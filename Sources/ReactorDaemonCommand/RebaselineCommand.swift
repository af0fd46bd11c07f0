import ArgumentParser
import ReactorDaemon

/// `reactord rebaseline`: makes the state that the history replays to the start of a new epoch.
struct RebaselineCommand<Program: DaemonCommand>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "rebaseline",
            abstract: "Continue from the state that the current reactors replay.",
            discussion: """
                For a start that was refused because a replayed state differs from the original \
                one: accepts the replayed state, takes a snapshot of it, and begins a new epoch, so \
                that every client gets complete values. The earlier history is kept. The daemon \
                must not be running; copy the data directory first.
                """)
    }

    @ParentCommand var parent: DaemonArguments<Program>
    @OptionGroup var options: DaemonOptions<Program>

    mutating func run() throws {
        try DaemonOutput<Program>.run {
            let (settings, root) = try options.read(parent)
            let logger = DaemonOutput<Program>.logger(settings.logLevel)
            let history = try options.history(of: settings)
            let (revision, row) = try history.rebaseline(root, logger)
            try DaemonOutput<Program>.write([
                "took a snapshot of row \(row) in \(history.directory); the history continues at "
                    + "revision \(revision)"
            ])
        }
    }
}
