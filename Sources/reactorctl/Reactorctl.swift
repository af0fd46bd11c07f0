import ArgumentParser
import Glibc

/// `reactorctl`: what a person or a script asks of a running daemon.
@main
struct Reactorctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reactorctl",
        abstract: "Sends actions to a running reactord and shows the state that it shares.",
        discussion: """
            A PATH names a reactor, such as /visits, and after it a field of its state, such as \
            /settings/entries/theme. Output is one JSON value per line unless it goes to a \
            terminal.

            Exit codes: 0 done, 1 rejected, 2 wrong usage, 65 the action is not valid for that \
            reactor, 66 no such path or revision, 69 no daemon reachable, 74 the output cannot be \
            written, or the daemon's disk is full, refuses or is damaged, 75 outcome unknown or try \
            again, 77 not for this user, 124 timed out.
            """,
        version: "0.1.0",
        subcommands: [
            DispatchCommand.self, GetCommand.self, WatchCommand.self, WaitCommand.self,
            HoldCommand.self, TreeCommand.self, DescribeCommand.self, StatsCommand.self,
            PingCommand.self, LogCommand.self, ExportCommand.self, SnapshotCommand.self,
            BackupCommand.self,
        ])

    static func main() async {
        do {
            var command = try parseAsRoot(ordered(Array(CommandLine.arguments.dropFirst())))
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let failure as Failure {
            Output.complain(failure.text)
            Glibc.exit(failure.code)
        } catch let closed as Output.Closed {
            // because who closed the pipe has seen enough
            guard let reason = closed.reason else { Glibc.exit(0) }
            Output.complain("standard output cannot be written: \(reason)")
            Glibc.exit(Failure.outputCode)
        } catch {
            finish(error)
        }
    }

    /// The arguments with `--socket PATH`, where it stands before the command, behind the
    /// command's name: options belong to commands.
    static func ordered(_ arguments: [String]) -> [String] {
        guard let first = arguments.first else { return arguments }
        let count = first == "--socket" ? 2 : first.hasPrefix("--socket=") ? 1 : 0
        guard count > 0, arguments.count > count else { return arguments }
        return [arguments[count]] + arguments[..<count] + arguments[(count + 1)...]
    }

    private static func finish(_ error: any Error) -> Never {
        // because 64 is ArgumentParser's code for wrong usage, and ours is the shells' own
        guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
        Output.complain(lines: fullMessage(for: error))
        Glibc.exit(2)
    }
}
