import ArgumentParser
import ReactorDaemon

/// `reactord rebaseline`: makes what the history is replayed to the state to go on from.
struct RebaselineCommand<Program: DaemonCommand>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "rebaseline",
            abstract: "Go on from what today's reactors make of the history.",
            discussion: """
                For a start that was refused because a replayed state is another than it was: \
                accepts what comes out, takes a snapshot of it, and begins a new epoch, so that \
                every client gets everything afresh. The history before is kept as it is. The \
                daemon must not run; make a copy of the data directory before.
                """)
    }

    @ParentCommand var parent: DaemonArguments<Program>
    @OptionGroup var options: DaemonOptions<Program>

    mutating func run() throws {
        try DaemonVoice<Program>.run {
            let (settings, root) = try options.read(parent)
            let logger = DaemonVoice<Program>.logger(settings.logLevel)
            let history = try options.history(of: settings)
            let (revision, row) = try history.rebaseline(root, logger)
            try DaemonVoice<Program>.say([
                "took a snapshot of row \(row) in \(history.directory); the state goes on at "
                    + "revision \(revision)"
            ])
        }
    }
}
