import ArgumentParser
import Foundation
import ReactorClient
import ReactorWire
import Subprocess

/// `reactorctl hold`: runs a command while what an action acquired is held.
struct HoldCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold",
        abstract: "Dispatch an action, then run a command while the connection lives.",
        discussion: """
            reactorctl hold /team/lock '{"acquire":{"wait":true}}' -- make deploy

            The command's exit code is the result. What the action acquired (a lock, a claim, a \
            presence) is given back when the command ends.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The reactor.")
    var path: String

    @Argument(help: "The action as JSON.")
    var action: String

    @Argument(parsing: .postTerminator, help: "The command to run.")
    var command: [String] = []

    mutating func validate() throws {
        if command.isEmpty { throw ValidationError("expected -- and a command after the action") }
    }

    mutating func run() async throws {
        let client = try await connection.connect()
        let encoded = try await ActionText(path, from: client).encode(action)
        let path = path
        let outcome = try await Failure.explain(path) { () throws(ClientError) in
            try await client.dispatch(path, encoded: encoded)
        }
        if let failure = outcome.failure {
            try Output.line(outcome.json)
            throw failure
        }
        let code = try await runCommand()
        client.close()
        throw ExitCode(code)
    }

    /// Runs the command with our own input and output; its code, or 128 and the signal's number.
    private func runCommand() async throws -> Int32 {
        // because Ctrl-C reaches the command as well: it decides, and we report what it said
        signal(SIGINT, SIG_IGN)
        let status: TerminationStatus
        do {
            status = try await Subprocess.run(
                .name(command[0]), arguments: Arguments(Array(command.dropFirst())),
                input: .currentStandardInput, output: .currentStandardOutput,
                error: .currentStandardError
            ).terminationStatus
        } catch {
            throw Failure(127, "cannot run \(command[0]): \(error)")
        }
        switch status {
        case .exited(let code): return Int32(code)
        case .signaled(let number): return 128 + Int32(number)
        }
    }
}
