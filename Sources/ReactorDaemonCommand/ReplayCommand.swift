import ArgumentParser
import Foundation
import ReactorCore
import ReactorDaemon

/// `reactord replay`: prints the state that a history leads to.
struct ReplayCommand<Program: DaemonCommand>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "replay",
            abstract: "Print the state that the history leads to, or led to.",
            discussion: """
                Changes nothing. The daemon must not run: of a running one, look at a backup, or \
                ask `reactorctl get --at`.
                """)
    }

    @ParentCommand var parent: DaemonArguments<Program>
    @OptionGroup var options: DaemonOptions<Program>

    @Argument(
        help: ArgumentHelp(
            "The data directory, instead of the configured one: a backup, say.",
            valueName: "directory"))
    var directory: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "As of which revision: epoch:sequence, or a sequence of the last epoch.",
            valueName: "revision"))
    var until: String?

    mutating func run() throws {
        try DaemonVoice<Program>.run {
            let (settings, root) = try options.read(parent)
            let history = try options.history(of: settings, in: directory)
            let (revision, value) = try history.value(of: root, at: until)
            try DaemonVoice<Program>.say([
                WireValue.json(
                    object: ["revision": .text(revision.description), "state": value])
            ])
        }
    }
}
