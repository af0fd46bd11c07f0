import ArgumentParser
import ReactorClient
import ReactorLoop
import ReactorWire

/// `reactorctl batch`: sends the actions of a file, each by itself or all as one transaction.
struct BatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch",
        abstract: "Send actions to several reactors, on request as one transaction.",
        discussion: """
            Each line has a path and an action as JSON. Empty lines and lines that begin with # are \
            ignored:

            /visits {"increment":{"by":5}}
            /settings {"set":{"key":"theme","value":"dark"}}

            All lines are read and checked before the first action is sent. Without --atomic, each \
            action is a transaction of its own, in the order of the lines; each has a line of \
            output, and a summary follows. With --atomic, all actions are applied at one revision, \
            or none is; the outcome names the line of a refused action. --if-revision then applies \
            them only if nothing in the daemon has changed since.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The file of actions, or - for standard input.")
    var file: String

    @Flag(name: .long, help: "Apply all actions as one transaction, or none.")
    var atomic = false

    @OptionGroup var options: ActionOptions

    @OptionGroup var timeout: TimeoutOption

    mutating func validate() throws {
        if options.ifRevision != nil, !atomic {
            throw ValidationError("--if-revision goes with --atomic")
        }
    }

    /// Maximum bytes of a file: all its actions are in memory before the first is sent.
    private static let fileBytesMax = 256 << 20

    mutating func run() async throws {
        let limit = timeout.begin("no outcome")
        let bytes = try read()
        let client = try await connection.connect()
        let watch = timeout.watch(client)
        defer { watch?.cancel() }
        let text = try await BatchText(bytes, from: client)
        let conditions = BatchRun.Options(
            expected: options.expected, ack: options.ack, awaitsEffects: options.awaitsEffects)
        let run = BatchRun(text, conditions, timeout)
        if atomic {
            defer { limit?.cancel() }
            return try await run.sendAtomically(client)
        }
        // The single actions have limits of their own, which print the summary.
        limit?.cancel()
        watch?.cancel()
        try await run.sendEach(client)
    }

    private func read() throws(Failure) -> [UInt8] {
        let bytes: [UInt8]
        do throws(CallFailure) {
            bytes =
                file == "-"
                ? try FileSystem.bytesOfInput(byteCountMax: Self.fileBytesMax + 1)
                : try FileSystem.bytes(at: file, byteCountMax: Self.fileBytesMax + 1)
        } catch {
            throw Failure(Failure.inputCode, "\(file) cannot be read: \(error.message)")
        }
        guard bytes.count <= Self.fileBytesMax else {
            throw Failure(
                Failure.badActionCode,
                "\(file) has more than \(Self.fileBytesMax) bytes: divide it into several files")
        }
        return bytes
    }
}
