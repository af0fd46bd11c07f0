import ArgumentParser
import Glibc
import Logging
import ReactorCore
import ReactorDaemon
import ReactorLoop

/// The command line of a daemon, and the program's run.
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
                Without a subcommand it serves clients until a signal ends it. Clients are \
                `reactorctl` and every program that uses the ReactorClient library or speaks the \
                documented wire format. The subcommands manage the data of a daemon that is not \
                running.

                Without --socket, `socket:` and $REACTORD_SOCKET, the socket is the first of these \
                whose directory belongs to the user: $XDG_RUNTIME_DIR/\(Program.name).sock, \
                /run/\(Program.name)/\(Program.name).sock, \
                /tmp/\(Program.name)-UID/\(Program.name).sock (not for root). Clients find it by \
                the name \(Program.name): `reactorctl tree --daemon \(Program.name)`.

                \(data)

                Exit codes: 0 ended by a signal (within 5 s; effects that do not end by then are \
                named in the log and abandoned), or --check found that a start would succeed; 64 \
                wrong usage; 65 the configuration cannot be used; 69 the socket, the data directory \
                or another resource of the system is not available; 73 the directory to be created \
                exists; 74 the disk failed, and all acknowledged actions are durable; 78 the daemon \
                cannot continue from the content of the data directory, where --check prints each \
                difference between the history and the program, with the remedy; or it cannot join \
                its cluster.
                """,
            version: Program.version,
            subcommands: [
                DoctorCommand<Program>.self, VerifyCommand<Program>.self,
                RestoreCommand<Program>.self, ReplayCommand<Program>.self,
                ImportCommand<Program>.self, RebaselineCommand<Program>.self,
                ClusterCommand<Program>.self,
            ])
    }

    /// Where the data are without the section `data:`.
    private static var data: String {
        Program.keepsData
            ? """
            Without --config, it keeps its data in the first of these that applies: \
            $STATE_DIRECTORY, /var/lib/\(Program.name) for root, \
            $XDG_STATE_HOME/\(Program.name), $HOME/.local/state/\(Program.name). A configuration \
            without `data:` keeps none.
            """
            : "It keeps its data if the configuration has `data:`, otherwise until it ends."
    }

    @OptionGroup var options: ServeOptions

    mutating func run() throws {
        // Before the reactors are made: a metric records where its backend is when it is made.
        Daemon.collectMetrics()
        let reactors = Program.reactors
        if options.config == nil, reactors.needsConfig {
            throw ValidationError("Missing expected argument '--config <file>'")
        }
        try DaemonOutput<Program>.run {
            var settings = try reactors.config(
                at: options.config, of: Program.name, keepsData: Program.keepsData)
            if let socket = options.socket { settings.socket = socket }
            let root = try reactors.root(for: settings)
            if options.check { return try Self.check(settings, root) }
            try serve(settings, root)
        }
    }

    private static func check(_ settings: DaemonConfig, _ root: any Reactor) throws {
        let summary = try settings.summary(
            environment: ProcessEnvironment.environment, uid: geteuid())
        try DaemonOutput<Program>.write([summary])
        try ClusterEngine.check(settings.cluster)
        guard settings.data != nil else { return }
        let history = try OfflineHistory(
            of: settings, environment: ProcessEnvironment.environment, uid: geteuid())
        let forecast = try history.forecast(of: root)
        try DaemonOutput<Program>.write(["start"] + forecast.lines.map { "  " + $0 })
        if let refusal = forecast.refusal { throw refusal }
    }

    private func serve(_ settings: DaemonConfig, _ root: any Reactor) throws {
        let program = SuccessorProgram(path: ProcessEnvironment.environment["PATH"])
        let logger = DaemonOutput<Program>.logger(settings)
        var joining = ClusterStarting(
            settings, environment: ProcessEnvironment.environment, uid: geteuid(), logger)
        try joining.takeCopyIfNeeded()
        let daemon = try Daemon(
            root: root, config: settings, name: "\(Program.name) \(Program.version)",
            environment: ProcessEnvironment.environment, uid: geteuid(), logger: logger,
            roots: { [settings] in try Program.reactors.root(for: settings) },
            droppedLogLines: { DaemonLog.droppedCount }, whenOpen: Program.whenOpen)
        daemon.acceptRestarts(of: program) { DaemonLog.flush() }
        if let source = options.source(of: Program.self) {
            daemon.acceptReloads(of: settings, from: source)
        }
        do throws(DaemonError) {
            try daemon.run()
        } catch {
            // Keeps the daemon's signal handlers until the error is printed: a signal in between
            // would end the process with another status.
            withExtendedLifetime(daemon) {
                joining.startAgain(after: error) { DaemonLog.flush() }
                let code = DaemonOutput<Program>.exit(error.exitCode, "\(error)")
                DaemonLog.flush()
                Self.exit(withError: code)
            }
        }
    }
}

extension DaemonCommand {
    /// Parses the command line, and serves until a signal ends the daemon.
    public static func main() { DaemonArguments<Self>.main() }
}
