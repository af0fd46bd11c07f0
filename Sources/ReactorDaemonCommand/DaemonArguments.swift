import ArgumentParser
import Foundation
import Logging
import ReactorDaemon

/// The command line of a daemon, and what becomes of it.
struct DaemonArguments<Program: DaemonCommand>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: Program.name,
            abstract: Program.abstract,
            discussion: """
                Clients are `reactorctl` and every program that uses the ReactorClient library or \
                speaks the documented wire.

                Exit codes: 0 ended by a signal (within 5 s; effects that do not end by then are \
                named in the log, and abandoned), or all is well with --check; 64 wrong usage; \
                65 the configuration cannot be used; 69 the socket, the data directory, or what \
                else is needed of the system, cannot be had; 74 the disk failed, and what was told \
                is kept; 78 the data directory holds something that cannot be gone on from.
                """,
            version: Program.version)
    }

    @Option(name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String?

    @Option(
        name: .long,
        help: ArgumentHelp("Where to listen, instead of the configured place.", valueName: "path"))
    var socket: String?

    @Flag(name: .long, help: "Read the configuration, say what it asks for, and end.")
    var check = false

    mutating func run() throws {
        let reactors = Program.reactors
        if config == nil, reactors.needsConfig {
            throw ValidationError("Missing expected argument '--config <file>'")
        }
        do {
            var settings = try reactors.config(at: config)
            if let socket { settings.socket = socket }
            let root = try reactors.root(for: settings)
            if check {
                FileHandle.standardOutput.write(Data((settings.summary + "\n").utf8))
                return
            }
            let daemon = try Daemon(
                root: root, config: settings, name: "\(Program.name) \(Program.version)",
                environment: ProcessInfo.processInfo.environment, uid: geteuid(),
                logger: Self.logger(settings.logLevel), whenOpen: Program.whenOpen)
            try daemon.run()
        } catch let error as ConfigError {
            throw Self.exit(65, "\(error)")
        } catch let error as DaemonError {
            throw Self.exit(error.exitCode, "\(error)")
        }
    }

    private static func logger(_ level: Logger.Level) -> Logger {
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        var logger = Logger(label: Program.name)
        logger.logLevel = level
        return logger
    }

    /// Says why on standard error, in the form `reactord: …`, and yields the exit code.
    private static func exit(_ code: Int32, _ text: String) -> ExitCode {
        for line in text.split(separator: "\n") {
            FileHandle.standardError.write(Data("\(Program.name): \(line)\n".utf8))
        }
        return ExitCode(code)
    }
}
