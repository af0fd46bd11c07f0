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
            reactorctl hold /jobs '{"claim":{}}' \\
              --on-success '{"finish":{"id":"{{id}}"}}' \\
              --on-failure '{"fail":{"id":"{{id}}"}}' -- ./work.sh

            The command's exit code is the result. What the action acquired (a lock, a claim, a \
            presence) is given back when the command ends: a claimed job returns to its queue, \
            unless --on-success finishes it.

            The command finds the action's reply as JSON in REACTORCTL_REPLY. A text "{{name}}" in \
            the action of --on-success or --on-failure stands for that field of the reply, \
            "{{job/name}}" for a field inside a field.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The reactor.")
    var path: String

    @Argument(help: "The action as JSON.")
    var action: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "What to dispatch, on the same connection, when the command ends with 0.",
            valueName: "action"))
    var onSuccess: String?

    @Option(
        name: .long,
        help: ArgumentHelp("What to dispatch when it ends in another way.", valueName: "action"))
    var onFailure: String?

    @Argument(parsing: .postTerminator, help: "The command to run.")
    var command: [String] = []

    /// The variable by which the command learns the reply.
    private static let replyVariable = "REACTORCTL_REPLY"
    /// Longest such variable, its name included: the system takes no longer one (MAX_ARG_STRLEN).
    private static let variableBytesMax = (128 << 10) - 1

    mutating func validate() throws {
        if command.isEmpty { throw ValidationError("expected -- and a command after the action") }
        for (option, text) in [("--on-success", onSuccess), ("--on-failure", onFailure)] {
            guard let text else { continue }
            do throws(JSONError) {
                _ = try ActionTemplate(json: text)
            } catch {
                throw ValidationError("\(option): the action is not JSON: \(error)")
            }
        }
    }

    mutating func run() async throws {
        let client = try await connection.connect()
        let text = try await ActionText(path, from: client)
        let outcome = try await dispatch(text.encode(action), client)
        if let failure = outcome.failure {
            try Output.line(outcome.json)
            throw failure
        }
        // because whoever cannot say how it will end has not begun
        let reply = outcome.replyValue
        let onSuccess = try Self.encode(onSuccess, "--on-success", reply, text)
        let onFailure = try Self.encode(onFailure, "--on-failure", reply, text)
        let watch = Task { await Self.watch(client) }
        let code = try await runCommand(reply)
        watch.cancel()
        var isLost = await watch.value
        if !isLost {
            // because the connection may have gone since the last look
            isLost = await !Self.isHeld(client)
            if isLost { Self.complainOfLoss() }
        }
        if let last = code == 0 ? onSuccess : onFailure {
            try await finish(last, code, client)
        }
        client.close()
        // because the command may have done what the lock was to keep it from
        throw ExitCode(isLost && code == 0 ? Failure.unknownCode : code)
    }

    /// Looks whether the connection is still the one that the action came by, until it is cancelled;
    /// says so once where it is not.
    private static func watch(_ client: Client) async -> Bool {
        while true {
            try? await Task.sleep(for: .milliseconds(500))
            if Task.isCancelled { return false }
            let isHeld = await isHeld(client)
            // because what was asked when the command ended is not answered
            if Task.isCancelled { return false }
            if !isHeld { break }
        }
        complainOfLoss()
        return true
    }

    private static func isHeld(_ client: Client) async -> Bool {
        guard (try? await client.isLive()) ?? false else { return false }
        return (try? await client.connectionCount()) == 1
    }

    private static func complainOfLoss() {
        Output.complain(
            "the connection was lost while the command ran: what was acquired has been given back, "
                + "and may have been another's")
    }

    private func dispatch(
        _ action: [UInt8], _ client: Client
    ) async throws(Failure) -> ActionOutcome {
        let path = path
        return try await Failure.explain(path) { () throws(ClientError) in
            try await client.dispatch(path, encoded: action)
        }
    }

    private static func encode(
        _ json: String?, _ option: String, _ reply: WireValue, _ text: ActionText
    ) throws -> [UInt8]? {
        guard let json else { return nil }
        do {
            return try text.encode(ActionTemplate(json: json).filled(from: reply))
        } catch var failure as Failure {
            failure.text = "\(option): \(failure.text)"
            throw failure
        }
    }

    /// Dispatches what is to follow the command's end; where it fails, the command's own failure
    /// stays the result.
    private func finish(_ action: [UInt8], _ code: Int32, _ client: Client) async throws {
        guard var failure = try await dispatch(action, client).failure else { return }
        failure.text = (code == 0 ? "--on-success: " : "--on-failure: ") + failure.text
        if code == 0 { throw failure }
        Output.complain(failure.text)
    }

    /// Runs the command with our own input and output; its code, or 128 and the signal's number.
    private func runCommand(_ reply: WireValue) async throws -> Int32 {
        let json = reply.json()
        guard json.utf8.count + Self.replyVariable.utf8.count + 1 < Self.variableBytesMax else {
            throw Failure(
                Failure.rejectedCode,
                "the reply has \(json.utf8.count) bytes of JSON, which \(Self.replyVariable) "
                    + "cannot hold")
        }
        // because Ctrl-C reaches the command as well: it decides, and we report what it said
        signal(SIGINT, SIG_IGN)
        // because a name is looked up on the PATH and a path is not: env tells them apart
        let isPath = command[0].contains("/")
        let status: TerminationStatus
        do {
            status = try await Subprocess.run(
                .name(isPath ? "env" : command[0]),
                arguments: Arguments(Array(isPath ? command[...] : command.dropFirst())),
                environment: .inherit.updating(["REACTORCTL_REPLY": json]),
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
