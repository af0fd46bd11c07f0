import ArgumentParser
import Glibc
import Logging
import ReactorCore
import ReactorDaemon
import ReactorLoop

/// The common options of a daemon's subcommands.
struct DaemonOptions<Program: DaemonCommand>: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String?

    /// Returns the configuration, and the root of its tree; `program` are the options of the
    /// program itself.
    func read(
        _ program: ServeOptions
    ) throws -> (settings: DaemonConfig, root: any Reactor) {
        // If the program and the subcommand have the same option, ArgumentParser assigns it to
        // the program, wherever it is on the command line.
        let config = program.config ?? config
        let reactors = Program.reactors
        if config == nil, reactors.needsConfig {
            throw ValidationError("Missing expected argument '--config <file>'")
        }
        let settings = try reactors.config(
            at: config, of: Program.name, keepsData: Program.keepsData)
        return (settings, try reactors.root(for: settings))
    }

    /// Opens the history of the daemon, which must not be running; `directory` overrides the
    /// configured place.
    func history(
        of settings: DaemonConfig, in directory: String? = nil
    ) throws(DaemonError) -> OfflineHistory {
        try OfflineHistory(
            of: settings, in: directory, environment: ProcessEnvironment.environment,
            uid: geteuid())
    }
}

/// The options of a daemon that serves.
struct ServeOptions: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The socket to listen on, instead of the configured one.", valueName: "path"))
    var socket: String?

    @Flag(
        name: .long,
        help: """
            Read the configuration, print its settings and what a start would do with the data, and \
            exit.
            """)
    var check = false

    /// Where the running daemon reads its configuration again; nil without a file.
    func source<Program: DaemonCommand>(of program: Program.Type) -> ConfigSource? {
        guard let config else { return nil }
        let socket = socket
        return ConfigSource(
            file: config, reactors: Program.reactors.needsConfig ? .inFile : .inCode,
            complete: { (settings) throws(ConfigError) in
                settings.name = Program.name
                if let socket { settings.socket = socket }
                // Finds unknown kinds and options that a kind refuses.
                _ = try Program.reactors.root(for: settings)
            }, setLog: { DaemonLog.set($0, $1) })
    }
}

/// The output of a daemon's program.
enum DaemonOutput<Program: DaemonCommand> {
    /// Runs `body`; if it throws, prints the error to standard error and ends with the error's
    /// code.
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

    /// Writes lines to standard output, safe for a terminal.
    static func write(_ lines: [String]) throws {
        let text = lines.flatMap { $0.split(separator: "\n", omittingEmptySubsequences: false) }
            .map { String($0).terminalSafe + "\n" }.joined()
        do throws(CallFailure) {
            try StandardStream.output.write(text: text)
        } catch {
            throw exit(EX_IOERR, "standard output cannot be written: \(error.message)")
        }
    }

    /// Creates a logger to standard error that does not wait for the reader: see ``DaemonLog``.
    static func logger(_ settings: DaemonConfig) -> Logger {
        DaemonLog.set(settings.logLevel, settings.logFormat)
        LoggingSystem.bootstrap { DaemonLog.handler(label: $0) }
        return Logger(label: Program.name)
    }

    /// Prints an error to standard error, in the form of the log, and returns the exit code.
    static func exit(_ code: Int32, _ text: String) -> ExitCode {
        for line in text.split(separator: "\n") {
            DaemonLog.complain(String(line).terminalSafe, of: Program.name)
        }
        return ExitCode(code)
    }
}
