import ArgumentParser
import Foundation
import Logging
import ReactorDaemon

/// `reactord`: serves the tree that a configuration file describes.
@main
struct ReactordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reactord",
        abstract: "Owns a tree of reactors and serves it over a Unix-domain socket.",
        discussion: """
            Clients are `reactorctl` and every program that uses the ReactorClient library or \
            speaks the documented wire.
            """,
        version: Daemon.version)

    @Option(name: .long, help: ArgumentHelp("The configuration file.", valueName: "file"))
    var config: String

    @Option(
        name: .long,
        help: ArgumentHelp("Where to listen, instead of the configured place.", valueName: "path"))
    var socket: String?

    @Flag(name: .long, help: "Read the configuration, say what it asks for, and end.")
    var check = false

    mutating func run() throws {
        do {
            var settings = try DaemonConfig(file: config)
            if let socket { settings.socket = socket }
            let root = try settings.root(from: .stock)
            if check {
                FileHandle.standardOutput.write(Data((settings.summary + "\n").utf8))
                return
            }
            let daemon = try Daemon(
                root: root, config: settings, environment: ProcessInfo.processInfo.environment,
                uid: geteuid(), logger: Self.logger(settings.logLevel))
            try daemon.run()
        } catch let error as ConfigError {
            throw Self.exit(65, "\(error)")
        } catch let error as DaemonError {
            throw Self.exit(69, "\(error)")
        }
    }

    private static func logger(_ level: Logger.Level) -> Logger {
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        var logger = Logger(label: "reactord")
        logger.logLevel = level
        return logger
    }

    /// Says why on standard error, in the form `reactord: …`, and yields the exit code.
    private static func exit(_ code: Int32, _ text: String) -> ExitCode {
        for line in text.split(separator: "\n") {
            FileHandle.standardError.write(Data("reactord: \(line)\n".utf8))
        }
        return ExitCode(code)
    }
}
