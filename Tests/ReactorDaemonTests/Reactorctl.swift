import Foundation

/// `reactorctl`, run against one daemon.
struct Reactorctl {
    let daemon: DaemonProcess

    /// What a run left behind.
    struct Run {
        var code: Int32
        var output: String
        var errors: String

        /// The lines of standard output.
        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    /// Runs it to its end.
    func callAsFunction(_ arguments: String..., input: String = "") async throws -> Run {
        let process = try start(arguments, input: input, name: "ctl-\(UUID().uuidString)")
        guard case .exited(let code) = await process.ended() else {
            return Run(code: -1, output: process.output, errors: process.errors)
        }
        return Run(code: code, output: process.output, errors: process.errors)
    }

    /// Starts it and does not wait for its end.
    func start(
        _ arguments: [String], input: String = "", name: String
    ) throws -> ChildProcess {
        try ChildProcess(
            Built.product("reactorctl"), ["--socket", daemon.socketPath] + arguments,
            input: input, in: daemon.directory, name: name)
    }
}
