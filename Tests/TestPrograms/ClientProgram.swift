import Foundation

/// A program that talks to one daemon, which it finds by its `--socket`.
package struct ClientProgram {
    package let name: String
    package let daemon: DaemonProcess

    package init(_ name: String = "reactorctl", daemon: DaemonProcess) {
        self.name = name
        self.daemon = daemon
    }

    /// What a run left behind.
    package struct Run {
        package var code: Int32
        package var output: String
        package var errors: String

        /// The lines of standard output.
        package var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    /// Runs it to its end.
    package func callAsFunction(_ arguments: String..., input: String = "") async throws -> Run {
        let process = try start(
            arguments, input: input, name: "\(name)-\(UUID().uuidString)")
        guard case .exited(let code) = await process.ended() else {
            return Run(code: -1, output: process.output, errors: process.errors)
        }
        return Run(code: code, output: process.output, errors: process.errors)
    }

    /// Starts it and does not wait for its end.
    package func start(
        _ arguments: [String], input: String = "", name: String
    ) throws -> ChildProcess {
        // because options belong to a program's commands
        try ChildProcess(
            Built.product(self.name),
            arguments.prefix(1) + ["--socket", daemon.socketPath] + arguments.dropFirst(),
            input: input, in: daemon.directory, name: name)
    }
}

/// The program that most tests run.
package typealias Reactorctl = ClientProgram
