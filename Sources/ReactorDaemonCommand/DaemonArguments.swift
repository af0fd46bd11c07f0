import ArgumentParser
import Glibc
import Logging
import ReactorCore
import ReactorDaemon
import ReactorLoop

/// The command line of a daemon, and what becomes of it.
struct DaemonArguments<Program: DaemonCommand>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: Program.name,
            abstract: Program.abstract,
            usage: """
                \(Program.name) [--config <file>] [--socket <path>] [--check]
                \(Program.name) <subcommand>
                """,
            discussion: """
                Without a subcommand it serves, until a signal ends it. Clients are `reactorctl` \
                and every program that uses the ReactorClient library or speaks the documented \
                wire. The subcommands look after the data of a daemon that does not run.

                Exit codes: 0 ended by a signal (within 5 s; effects that do not end by then are \
                named in the log, and abandoned), or all is well with --check; 64 wrong usage; \
                65 the configuration cannot be used; 69 the socket, the data directory, or what \
                else is needed of the system, cannot be had; 74 the disk failed, and what was told \
                is kept; 78 the data directory holds something that cannot be gone on from.
                """,
            version: Program.version,
            subcommands: [
                DoctorCommand<Program>.self, ReplayCommand<Program>.self,
                ImportCommand<Program>.self, RebaselineCommand<Program>.self,
            ])
    }

    @OptionGroup var options: ServeOptions

    mutating func run() throws {
        let reactors = Program.reactors
        if options.config == nil, reactors.needsConfig {
            throw ValidationError("Missing expected argument '--config <file>'")
        }
        try DaemonVoice<Program>.run {
            var settings = try reactors.config(at: options.config)
            if let socket = options.socket { settings.socket = socket }
            let root = try reactors.root(for: settings)
            if options.check { return try Self.check(settings, root) }
            try Self.serve(settings, root)
        }
    }

    private static func check(_ settings: DaemonConfig, _ root: any Reactor) throws {
        try DaemonVoice<Program>.say([settings.summary])
        guard settings.data != nil else { return }
        let history = try OfflineHistory(
            of: settings, environment: ProcessPlace.environment, uid: geteuid())
        try DaemonVoice<Program>.say(["start"] + history.forecast(of: root).map { "  " + $0 })
    }

    private static func serve(_ settings: DaemonConfig, _ root: any Reactor) throws {
        let daemon = try Daemon(
            root: root, config: settings, name: "\(Program.name) \(Program.version)",
            environment: ProcessPlace.environment, uid: geteuid(),
            logger: DaemonVoice<Program>.logger(settings.logLevel),
            roots: { [settings] in try Program.reactors.root(for: settings) },
            droppedLogLines: { DaemonLog.droppedCount }, whenOpen: Program.whenOpen)
        do throws(DaemonError) {
            try daemon.run()
        } catch {
            // because a signal in between would end the process as if nothing had failed, where it
            // failed while it served
            withExtendedLifetime(daemon) {
                let code = DaemonVoice<Program>.exit(error.exitCode, "\(error)")
                DaemonLog.flush()
                Self.exit(withError: code)
            }
        }
    }
}

/// What a daemon that serves is told.
struct ServeOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Where to listen, instead of the configured place.", valueName: "path"))
    var socket: String?

    @Flag(
        name: .long,
        help: """
            Read the configuration, say what it asks for and what a start would do with the data, \
            and end.
            """)
    var check = false
}
