import ArgumentParser
import ReactorClient
import ReactorWire

/// `reactorctl dispatch`: sends one action, or one per line of standard input.
struct DispatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dispatch",
        abstract: "Send an action and print its outcome.",
        discussion: """
            reactorctl dispatch /visits '{"increment":{"by":5}}'
            reactorctl dispatch --wait done /search '{"find":"swift"}'
            seq 1000 | sed 's/.*/{"increment":{}}/' | reactorctl dispatch /visits -

            With -, --timeout limits the time without any outcome while actions have none yet. The \
            summary counts the outcomes; it is also printed after an error, and then counts actions \
            without an outcome as unknown. If standard output is closed, no further actions are \
            sent, and the command ends with 74.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The reactor.")
    var path: String

    @Argument(help: "The action as JSON, or - for one action per line of standard input.")
    var action: String

    @OptionGroup var options: ActionOptions

    @OptionGroup var timeout: TimeoutOption

    @Flag(name: .long, help: "With -, a line per action instead of a summary.")
    var each = false

    mutating func validate() throws {
        if each, action != "-" { throw ValidationError("--each goes with - as the action") }
        if action == "-", options.wait == .durable {
            throw ValidationError("--wait durable goes with one action, not with -")
        }
        if action == "-", options.ifRevision != nil {
            throw ValidationError("--if-revision goes with one action, not with -")
        }
    }

    mutating func run() async throws {
        let limit = timeout.begin("no outcome")
        let client = try await connection.connect()
        let watch = timeout.watch(client)
        defer { watch?.cancel() }
        let text = try await ActionText(path, from: client)
        if action == "-" {
            // The stream has limits of its own, which print its summary.
            limit?.cancel()
            watch?.cancel()
            return try await ActionStream(
                path: path, isEach: each, awaitsEffects: options.awaitsEffects, text: text,
                timeout: timeout
            ).run(client)
        }
        let encoded = try await text.encode(action)
        let (path, awaitsEffects) = (path, options.awaitsEffects)
        let (expected, ack) = (options.expected, options.ack)
        let conditions =
            expected == nil && ack == nil ? nil : DispatchOptions(expected: expected, ack: ack)
        let outcome = try await Failure.explain(path) { () throws(ClientError) in
            awaitsEffects
                ? try await client.perform(path, encoded: encoded, conditions)
                : try await client.dispatch(path, encoded: encoded, conditions)
        }
        limit?.cancel()
        client.close()
        try Output.result(outcome.json, outcome.failure)
    }
}
