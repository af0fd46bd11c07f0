import ArgumentParser
import Glibc
import ReactorClient
import ReactorWire

/// `reactorctl wait`: ends when a slice has a given value.
struct WaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait", abstract: "Wait until a slice has a value.")

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The reactor, or a field of its state.")
    var path: String

    // A negative number begins with a hyphen, as options do.
    @Option(
        name: .long, parsing: .unconditional,
        help: ArgumentHelp("The value to wait for.", valueName: "json"))
    var equals: String

    @Option(
        name: .long,
        help: ArgumentHelp("How long to wait, such as 5s or 300ms.", valueName: "duration"))
    var timeout: String?

    mutating func validate() throws {
        if let timeout, DurationText.parse(timeout) == nil {
            throw ValidationError(
                "--timeout \(timeout): expected \(DurationText.expectation)")
        }
        do {
            _ = try WireValue(json: equals)
        } catch {
            throw ValidationError("--equals: not JSON: \(error)")
        }
    }

    mutating func run() async throws {
        let wanted = try WireValue(json: equals)
        let limit = timeout.flatMap { DurationText.parse($0) }
        let (path, limitText, connection) = (path, timeout ?? "", connection)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                let client = try await connection.connect()
                let report = ConnectionReport.start(client)
                defer {
                    report.cancel()
                    client.close()
                }
                return try await Self.reach(wanted, path, client)
            }
            if let limit {
                group.addTask {
                    try await Task.sleep(for: limit)
                    return false
                }
            }
            let isReached = try await group.next() ?? false
            guard isReached else {
                // Exits here, since cancelling the group does not end a connection attempt.
                Output.complain("\(path) did not have that value within \(limitText)")
                Glibc.exit(Failure.timeoutCode)
            }
            group.cancelAll()
        }
    }

    private static func reach(
        _ wanted: WireValue, _ path: String, _ client: Client
    ) async throws -> Bool {
        do throws(ClientError) {
            for try await (_, value) in client.watch(path) where value == wanted { return true }
            return false
        } catch {
            throw Failure(error, path: path)
        }
    }
}
