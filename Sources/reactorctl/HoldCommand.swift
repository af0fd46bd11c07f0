import ArgumentParser
import Glibc
import ReactorClient
import ReactorCore
import ReactorLoop
import ReactorWire

/// `reactorctl hold`: dispatches an action and runs a command while its acquisition is held.
struct HoldCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hold",
        abstract:
            "Dispatch an action, and run a command while the connection owns what it acquired.",
        discussion: """
            reactorctl hold /team/lock '{"acquire":{"wait":true}}' -- make deploy
            reactorctl hold /jobs '{"claim":{}}' \\
              --on-success '{"finish":{"id":"{{id}}"}}' \\
              --on-failure '{"fail":{"id":"{{id}}"}}' -- ./work.sh

            The command's exit code is the result. The acquisition of the action (a lock, a claim, \
            a presence) is released when the command ends: a claimed job returns to its queue, \
            unless --on-success finishes it.

            If the action has to wait for its acquisition, it waits on after a restart of the \
            daemon. If the daemon or the connection is lost while the command runs, another client \
            may acquire the same: --on-loss determines what happens to the command.

            The command runs in its own process group. Signals that ask reactorctl to end are \
            passed to the group. If reactorctl is killed, the whole group is killed.

            The environment variable REACTORCTL_REPLY contains the action's reply as JSON. In the \
            actions of --on-success and --on-failure, a text "{{name}}" is replaced by that field of \
            the reply, and "{{job/name}}" by a field inside a field.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The reactor.")
    var path: String

    @Argument(help: "The action as JSON.")
    var action: String

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The action to dispatch on the same connection if the command ends with 0.",
            valueName: "action"))
    var onSuccess: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The action to dispatch if it ends otherwise.", valueName: "action"))
    var onFailure: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            What happens to the command if the connection is lost: term sends SIGTERM, and SIGKILL \
            after 10s; kill sends SIGKILL; warn prints a warning and lets it continue.
            """,
            valueName: "what"))
    var onLoss = LossPolicy.term

    @OptionGroup var timeout: TimeoutOption

    @Argument(parsing: .postTerminator, help: "The command to run.")
    var command: [String] = []

    /// The environment variable that contains the reply for the command.
    private static let replyVariable = "REACTORCTL_REPLY"
    /// Maximum bytes of that variable including its name, a limit of the system (MAX_ARG_STRLEN).
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
        let limit = timeout.begin("\(path): no acquisition")
        let client = try await connection.connect()
        let watch = timeout.watch(client)
        let text = try await ActionText(path, from: client)
        let encoded = try await text.encode(action)
        let (outcome, number) = try await acquire(encoded, client)
        limit?.cancel()
        watch?.cancel()
        // If this process ends, the daemon releases the acquisition with the connection.
        if let failure = outcome.failure { try Output.result(outcome.json, failure) }
        if case .ownerEnded = outcome {
            throw Failure(Failure.unknownCode, "the connection was lost: \(Self.lossText)")
        }
        // Encodes both actions first: the command runs only if its result can be reported.
        let reply = outcome.replyValue
        let onSuccess = try await Self.encode(onSuccess, "--on-success", reply, text)
        let onFailure = try await Self.encode(onFailure, "--on-failure", reply, text)
        let (code, isLost) = try await runCommand(reply, client, number)
        if let last = code == 0 ? onSuccess : onFailure {
            if isLost {
                Output.complain("--on-\(code == 0 ? "success" : "failure") was omitted")
            } else {
                let limit = timeout.begin("no outcome of the action after the command")
                let watch = timeout.watch(client)
                try await finish(last, code, client)
                limit?.cancel()
                watch?.cancel()
            }
        }
        client.close()
        // Without the lock, the command may have conflicted with another process.
        throw ExitCode(isLost && code == 0 ? Failure.unknownCode : code)
    }

    private static let lossText =
        "the acquisition was released, and another client may have it"

    /// Ends the command if the connection that owns the acquisition ends. Returns whether it
    /// ended before the task was cancelled.
    private static func watch(
        _ client: Client, _ number: UInt64, _ command: HeldCommand, _ policy: LossPolicy
    ) async -> Bool {
        do throws(ClientError) {
            try await client.connectionEnds(number)
        } catch {
            if case .cancelled = error { return false }
        }
        switch policy {
        case .term: command.end(.politely)
        case .kill: command.end(.atOnce)
        case .warn: break
        }
        Output.complain("the connection was lost while the command ran: \(lossText)")
        return true
    }

    /// Dispatches the action, and again if its connection ended during the wait for the outcome:
    /// the wait belongs to the connection, and nothing was acquired.
    private func acquire(
        _ action: [UInt8], _ client: Client
    ) async throws(Failure) -> (ActionOutcome, UInt64) {
        let path = path
        while true {
            let former = try? await client.connectionCount()
            let (outcome, number) = try await Failure.explain(path) { () throws(ClientError) in
                try await client.acquire(path, encoded: action)
            }
            guard outcome.isWaitEnded(isLost: former != number) else { return (outcome, number) }
            Output.complain("the connection was lost during the wait: waiting again")
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
    ) async throws -> [UInt8]? {
        guard let json else { return nil }
        do {
            return try await text.encode(ActionTemplate(json: json).filled(from: reply))
        } catch var failure as Failure {
            failure.text = "\(option): \(failure.text)"
            throw failure
        }
    }

    /// Dispatches the action for the command's result. If the command failed, its failure remains
    /// the result even if the action fails too.
    private func finish(_ action: [UInt8], _ code: Int32, _ client: Client) async throws {
        guard var failure = try await dispatch(action, client).failure else { return }
        failure.text = (code == 0 ? "--on-success: " : "--on-failure: ") + failure.text
        if code == 0 { throw failure }
        Output.complain(failure.text)
    }

    /// Runs the command with this process's input and output. Returns its exit code, or 128 plus
    /// the signal's number, and whether the acquisition was lost before the command ended.
    private func runCommand(
        _ reply: WireValue, _ client: Client, _ number: UInt64
    ) async throws -> (code: Int32, isLost: Bool) {
        let json = reply.json()
        guard json.utf8.count + Self.replyVariable.utf8.count + 1 < Self.variableBytesMax else {
            throw Failure(
                Failure.rejectedCode,
                "the reply has \(json.utf8.count) bytes of JSON, too many for "
                    + Self.replyVariable)
        }
        let environment = ProcessEnvironment.environment
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
        let policy = onLoss
        let watch = Task { await Self.watch(client, number, held, policy) }
        for await ending in endings {
            watch.cancel()
            var isLost = await watch.value
            if !isLost { isLost = await !Self.isHeld(client, number) }
            switch ending {
            case .success(.exited(let code)): return (code, isLost)
            // This process killed the command after the loss: the signal is not its own result.
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

    /// Checks again, because the connection may have ended after the watch was cancelled.
    private static func isHeld(_ client: Client, _ number: UInt64) async -> Bool {
        let isLive = (try? await client.isLive()) ?? false
        let last = try? await client.connectionCount()
        let isHeld = isLive && last == number
        if !isHeld { Output.complain("the connection was lost while the command ran: \(lossText)") }
        return isHeld
    }
}

extension ActionOutcome {
    /// Whether the action waited for its outcome until its connection, or the daemon with all its
    /// states, ended. With `isLost`, the outcome came on a later connection than that.
    fileprivate func isWaitEnded(isLost: Bool) -> Bool {
        switch self {
        case .rejected(let rejection):
            // `Lock` rejects by itself what waited on a connection that has ended.
            rejection.code == FaultCode.ownerEnded.rawValue
                || isLost && rejection.code == "connection_ended"
        case .unknown(.historyLost): true
        default: false
        }
    }
}

/// What happens to a command whose connection is lost.
enum LossPolicy: String, CaseIterable, ExpressibleByArgument {
    /// Sends SIGTERM, and SIGKILL if the command does not end.
    case term
    /// Sends SIGKILL.
    case kill
    /// Prints a warning and lets the command run on.
    case warn
}
