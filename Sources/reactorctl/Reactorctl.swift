import ArgumentParser
import Glibc
import ReactorLoop

/// `reactorctl`: the command-line client of a running daemon.
@main
struct Reactorctl: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reactorctl",
        abstract: "Sends actions to a running daemon, and shows its state.",
        discussion: """
            A PATH names a reactor, such as /visits, or a field of its state, such as \
            /settings/entries/theme. Output is one JSON value per line, except on a terminal.

            The daemon's socket is --socket, else REACTORD_SOCKET, else the first of these that \
            accepts, where NAME is --daemon, or reactord: $XDG_RUNTIME_DIR/NAME.sock, \
            /run/NAME/NAME.sock, /tmp/NAME-UID/NAME.sock (not for root). If --socket or \
            REACTORD_SOCKET names a socket, no other is tried; a socket that refuses this user ends \
            the search. Before anything is sent, the daemon must be a process of this user, of \
            root, of the owner of /run/NAME, or of --daemon-uid, and no other user may write to the \
            socket's directory.

            Exit codes: 0 done, 1 rejected, 2 wrong usage, 65 the action is not valid for that \
            reactor, or the file of `reload` has problems, 66 no such path, revision or directory, 69 no daemon reachable, 73 the \
            directory of a backup exists, 74 the output cannot be written, or the daemon's disk is \
            full, fails or is damaged, 75 outcome unknown, or try again: the daemon is busy, does \
            not answer, or was absent for too long; or a reload needs a restart for some values, or a restart or a change of the leader did not happen, 77 this user has no permission, only the daemon sends the action, or the socket \
            belongs to another user, 124 timed out.
            """,
        version: "0.1.0",
        subcommands: [
            DispatchCommand.self, BatchCommand.self, GetCommand.self, WatchCommand.self,
            WaitCommand.self, HoldCommand.self, TreeCommand.self, DescribeCommand.self,
            StatsCommand.self, MetricsCommand.self, PingCommand.self, HealthCommand.self,
            ClientsCommand.self, KickCommand.self, ReleaseCommand.self, TopCommand.self,
            SlowLogCommand.self, LogCommand.self, ExportCommand.self, SnapshotCommand.self,
            BackupCommand.self, ReloadCommand.self, RestartCommand.self, ClusterCommand.self,
        ])

    static func main() async {
        HeldCommand.takeOver(CommandLine.arguments)
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
            finish(closed)
        } catch {
            finish(error)
        }
    }

    /// Moves `--socket PATH` and `--daemon NAME` from before the names of the command and of its
    /// subcommand to after them, because options belong to the last command.
    static func ordered(_ arguments: [String]) -> [String] {
        var names: [String] = []
        var options: [String] = []
        var rest = arguments[...]
        repeat {
            let count = optionCount(of: rest)
            guard rest.count > count else { break }
            options += rest.prefix(count)
            names.append(rest[rest.startIndex + count])
            rest = rest.dropFirst(count + 1)
        } while names.count == 1 && hasSubcommands(names[0])
        return names + options + rest
    }

    /// The number of arguments at the beginning that are `--socket` or `--daemon` with a value.
    private static func optionCount(of arguments: ArraySlice<String>) -> Int {
        var count = 0
        while count < arguments.count {
            let next = arguments[arguments.startIndex + count]
            if ["--socket", "--daemon"].contains(next) {
                count += 2
            } else if next.hasPrefix("--socket=") || next.hasPrefix("--daemon=") {
                count += 1
            } else {
                break
            }
        }
        return count
    }

    private static func hasSubcommands(_ name: String) -> Bool {
        configuration.subcommands.contains {
            $0.configuration.commandName == name && !$0.configuration.subcommands.isEmpty
        }
    }

    private static func finish(_ error: any Error) -> Never {
        let code = exitCode(for: error)
        let message = fullMessage(for: error)
        if code.isSuccess {
            // The user requested help or the version, so the message is the result.
            do throws(Output.Closed) {
                if !message.isEmpty { try Output.lines(message) }
            } catch {
                finish(error)
            }
        } else if !message.isEmpty {
            Output.complain(lines: message)
        }
        // ArgumentParser uses 64 for wrong usage, shells use 2.
        Glibc.exit(code == .validationFailure ? 2 : code.rawValue)
    }

    private static func finish(_ closed: Output.Closed) -> Never {
        // A reader that closes its pipe needs no more output. Commands that change something report
        // it as a failure themselves.
        guard let reason = closed.reason else { Glibc.exit(0) }
        Output.complain("standard output cannot be written: \(reason)")
        Glibc.exit(Failure.outputCode)
    }
}
