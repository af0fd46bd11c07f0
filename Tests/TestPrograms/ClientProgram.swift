import Foundation

/// A program that connects to one daemon, through its option `--socket`.
package struct ClientProgram {
    package let name: String
    package let daemon: DaemonProcess

    package init(_ name: String = "reactorctl", daemon: DaemonProcess) {
        self.name = name
        self.daemon = daemon
    }

    /// The result of a run.
    package struct Run {
        package var code: Int32
        package var output: String
        package var errors: String

        /// The lines of standard output.
        package var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    /// Runs the program to its end.
    package func callAsFunction(_ arguments: String..., input: String = "") async throws -> Run {
        let process = try start(
            arguments, input: input, name: "\(name)-\(UUID().uuidString)")
        guard case .exited(let code) = await process.ended() else {
            return Run(code: -1, output: process.output, errors: process.errors)
        }
        return Run(code: code, output: process.output, errors: process.errors)
    }

    /// Runs a shell script in which `client` is the program, connected, and `$DAEMON` and
    /// `$DIRECTORY` are the daemon's process and directory: for steps that follow each other at
    /// once, however busy the test process is.
    package func run(script: String) async throws -> Run {
        let client = #"client() { name=$1; shift; "$PROGRAM" "$name" --socket "$SOCKET" "$@"; }"#
        let process = try ChildProcess(
            "/bin/sh", ["-ec", client + "\n" + script],
            environment: [
                "PROGRAM": Built.product(name), "SOCKET": daemon.socketPath,
                "DAEMON": "\(daemon.pid)", "DIRECTORY": daemon.directory.path,
            ], in: daemon.directory, name: "script-\(UUID().uuidString)")
        guard case .exited(let code) = await process.ended() else {
            return Run(code: -1, output: process.output, errors: process.errors)
        }
        return Run(code: code, output: process.output, errors: process.errors)
    }

    /// Starts the program without waiting for its end.
    package func start(
        _ arguments: [String], input: String = "", name: String
    ) throws -> ChildProcess {
        // The option goes after the command's name, because options belong to commands.
        try ChildProcess(
            Built.product(self.name),
            arguments.prefix(1) + ["--socket", daemon.socketPath] + arguments.dropFirst(),
            input: input, in: daemon.directory, name: name)
    }
}

/// A short name for the program of most tests.
package typealias Reactorctl = ClientProgram
