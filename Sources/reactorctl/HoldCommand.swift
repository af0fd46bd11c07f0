import ArgumentParser
import Glibc
import ReactorClient
import ReactorLoop
import ReactorWire

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

            The command runs in a process group of its own, which is handed the signals that ask \
            reactorctl to end. When the daemon or the connection is lost, what was acquired may be \
            another's: --on-loss says what becomes of the command. If reactorctl is killed, so is the \
            whole group.

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

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            What becomes of the command when the connection is lost: term has it end (SIGTERM, \
            after 10s SIGKILL), kill ends it at once, warn lets it run on.
            """,
            valueName: "what"))
    var onLoss = LossManner.term

    @OptionGroup var patience: Patience

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
        let limit = patience.begin("\(path): nothing was acquired")
        let client = try await connection.connect()
        let watch = patience.watch(client)
        let text = try await ActionText(path, from: client)
        let (outcome, number) = try await acquire(text.encode(action), client)
        limit?.cancel()
        watch?.cancel()
        // What is still acquired when this process ends goes back with its connection.
        if let failure = outcome.failure {
            try Output.line(outcome.json)
            throw failure
        }
        if case .ownerEnded = outcome {
            throw Failure(Failure.unknownCode, "the connection was lost: \(Self.lossText)")
        }
        // The command does not begin where nobody could say how it ended.
        let reply = outcome.replyValue
        let onSuccess = try Self.encode(onSuccess, "--on-success", reply, text)
        let onFailure = try Self.encode(onFailure, "--on-failure", reply, text)
        let (code, isLost) = try await runCommand(reply, client, number)
        if let last = code == 0 ? onSuccess : onFailure {
            if isLost {
                Output.complain("--on-\(code == 0 ? "success" : "failure") was left out")
            } else {
                let limit = patience.begin("no outcome of what was to follow the command")
                let watch = patience.watch(client)
                try await finish(last, code, client)
                limit?.cancel()
                watch?.cancel()
            }
        }
        client.close()
        // The command may have done what the lock was to keep it from.
        throw ExitCode(isLost && code == 0 ? Failure.unknownCode : code)
    }

    private static let lossText =
        "what was acquired has been given back, and may have been another's"

    /// Ends the command once the connection is over that owns what was acquired; answers whether
    /// that came before the task was cancelled.
    private static func watch(
        _ client: Client, _ number: UInt64, _ command: HeldCommand, _ manner: LossManner
    ) async -> Bool {
        do throws(ClientError) {
            try await client.connectionEnds(number)
        } catch {
            if case .cancelled = error { return false }
        }
        switch manner {
        case .term: command.end(.politely)
        case .kill: command.end(.atOnce)
        case .warn: break
        }
        Output.complain("the connection was lost while the command ran: \(lossText)")
        return true
    }

    private func acquire(
        _ action: [UInt8], _ client: Client
    ) async throws(Failure) -> (ActionOutcome, UInt64) {
        let path = path
        return try await Failure.explain(path) { () throws(ClientError) in
            try await client.acquire(path, encoded: action)
        }
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

    /// Runs the command with this process's input and output: its code, or 128 and the signal's
    /// number, and whether what was acquired was lost before it ended.
    private func runCommand(
        _ reply: WireValue, _ client: Client, _ number: UInt64
    ) async throws -> (code: Int32, isLost: Bool) {
        let json = reply.json()
        guard json.utf8.count + Self.replyVariable.utf8.count + 1 < Self.variableBytesMax else {
            throw Failure(
                Failure.rejectedCode,
                "the reply has \(json.utf8.count) bytes of JSON, which \(Self.replyVariable) "
                    + "cannot hold")
        }
        let environment = ProcessPlace.environment
            .merging([Self.replyVariable: json]) { $1 }
        let (endings, continuation) = AsyncStream<Result<HeldCommand.Ending, LoopError>>
            .makeStream()
        let held: HeldCommand
        do throws(LoopError) {
            held = try HeldCommand(command, environment: environment) { ending in
                continuation.yield(ending)
                continuation.finish()
            }
        } catch {
            throw cannotRun(error)
        }
        let manner = onLoss
        let watch = Task { await Self.watch(client, number, held, manner) }
        for await ending in endings {
            watch.cancel()
            var isLost = await watch.value
            if !isLost { isLost = await !Self.isHeld(client, number) }
            switch ending {
            case .success(.exited(let code)): return (code, isLost)
            // What this process ended for the loss says nothing of the command.
            case .success(.killed(let signal)) where isLost && [SIGTERM, SIGKILL].contains(signal):
                return (Failure.unknownCode, isLost)
            case .success(.killed(let signal)): return (128 + signal, isLost)
            case .failure(let error): throw cannotRun(error)
            }
        }
        preconditionFailure("a command ends once")
    }

    private func cannotRun(_ error: LoopError) -> Failure {
        Failure(127, "cannot run \(command[0]): \(error)")
    }

    /// Looks once more: the connection may have gone since the watch was called off.
    private static func isHeld(_ client: Client, _ number: UInt64) async -> Bool {
        let isLive = (try? await client.isLive()) ?? false
        let last = try? await client.connectionCount()
        let isHeld = isLive && last == number
        if !isHeld { Output.complain("the connection was lost while the command ran: \(lossText)") }
        return isHeld
    }
}

/// What becomes of a command whose connection is lost.
enum LossManner: String, CaseIterable, ExpressibleByArgument {
    /// It is asked to end with SIGTERM, and killed where it does not.
    case term
    /// It is killed.
    case kill
    /// It runs on, and a line on standard error says so.
    case warn
}
