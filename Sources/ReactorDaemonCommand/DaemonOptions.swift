import ArgumentParser
import Glibc
import Logging
import ReactorCore
import ReactorDaemon
import ReactorLoop

/// What a daemon's subcommands have in common: whose daemon it is, and what ends them.
struct DaemonOptions<Program: DaemonCommand>: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String?

    /// The configuration, and the root of the tree that it describes; `parent` is the program's own
    /// command line.
    func read(
        _ parent: DaemonArguments<Program>
    ) throws -> (settings: DaemonConfig, root: any Reactor) {
        // because an option that the program has as well is taken for its own, wherever it stands
        let config = parent.options.config ?? config
        let reactors = Program.reactors
        if config == nil, reactors.needsConfig {
            throw ValidationError("Missing expected argument '--config <file>'")
        }
        let settings = try reactors.config(at: config)
        return (settings, try reactors.root(for: settings))
    }

    /// The history of the daemon, which must not run; `directory` names another place than the
    /// configured one.
    func history(
        of settings: DaemonConfig, in directory: String? = nil
    ) throws(DaemonError) -> OfflineHistory {
        try OfflineHistory(
            of: settings, in: directory, environment: ProcessPlace.environment,
            uid: geteuid())
    }
}

/// How a daemon's program speaks.
enum DaemonVoice<Program: DaemonCommand> {
    /// Runs `body`; where it fails, says why on standard error and ends with the error's code.
    static func run(_ body: () throws -> Void) throws {
        defer { DaemonLog.flush() }
        do {
            try body()
        } catch let error as ConfigError {
            throw exit(65, "\(error)")
        } catch let error as DaemonError {
            throw exit(error.exitCode, "\(error)")
        }
    }

    /// Writes lines to standard output.
    static func say(_ lines: [String]) throws {
        let text = lines.flatMap { $0.split(separator: "\n", omittingEmptySubsequences: false) }
            .map { String($0).terminalSafe + "\n" }.joined()
        do throws(CallFailure) {
            try StandardStream.output.write(text: text)
        } catch {
            throw exit(EX_IOERR, "standard output cannot be written: \(error.message)")
        }
    }

    /// A logger to standard error, which waits for no reader: see ``DaemonLog``.
    static func logger(_ level: Logger.Level) -> Logger {
        LoggingSystem.bootstrap { DaemonLog.handler(label: $0) }
        var logger = Logger(label: Program.name)
        logger.logLevel = level
        return logger
    }

    /// Says why on standard error, in the form `reactord: …`, and yields the exit code.
    static func exit(_ code: Int32, _ text: String) -> ExitCode {
        for line in text.split(separator: "\n") {
            DaemonLog.write("\(Program.name): \(String(line).terminalSafe)\n")
        }
        return ExitCode(code)
    }
}
