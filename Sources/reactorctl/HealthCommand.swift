import ArgumentParser
import Glibc
import ReactorClient
import ReactorWire

/// `reactorctl health`: checks whether the daemon lives, serves, and takes changes.
struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Check whether the daemon lives, serves clients, and takes changes.",
        discussion: """
            --live: the daemon answers, if only with a refusal. --ready (the default): it admits \
            this client and answers it. --write: it also accepts every action, and in a cluster a \
            leader carries them out.

            Exit codes: 0 healthy; 69 no daemon reachable; 74 --write, and the disk or the memory \
            is full; 75 no answer in time, or the daemon is too busy or shutting down, or --write, and \
            actions wait for a leader of the cluster; 77 the socket belongs to another user.
            """)

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "What to check.")
    var check = Check.ready

    @Option(
        name: .long,
        help: ArgumentHelp("How long to wait, such as 5s or 300ms.", valueName: "duration"))
    var timeout = "2s"

    /// What a health check asks for; each includes those before it.
    enum Check: String, EnumerableFlag {
        case live
        case ready
        case write
    }

    mutating func validate() throws {
        guard DurationText.parse(timeout) == nil else { return }
        throw ValidationError("--timeout \(timeout): expected \(DurationText.expectation)")
    }

    mutating func run() async throws {
        let (check, timeout) = (check, timeout)
        let end = Task {
            do { try await Task.sleep(for: DurationText.parse(timeout) ?? .zero) } catch { return }
            Output.complain("the daemon does not answer within \(timeout)")
            Glibc.exit(Failure.unknownCode)
        }
        try await perform()
        end.cancel()
        try Output.line(WireValue.json(object: ["healthy": .text(check.rawValue)]))
    }

    private func perform() async throws(Failure) {
        let failure: Failure?
        do throws(ClientError) {
            let client = try await attempt()
            try await client.ping()
            failure = check == .write ? try await Self.obstacle(client) : nil
            client.close()
        } catch {
            if check == .live, Self.isAnswer(error) { return }
            throw Failure(error)
        }
        if let failure { throw failure }
    }

    /// Why the daemon does not carry out every action now; nil if it does.
    private static func obstacle(_ client: Client) async throws(ClientError) -> Failure? {
        if let text = refused(try await client.stats()) {
            return Failure(Failure.storageCode, text)
        }
        return try await waits(client).map { Failure(Failure.unknownCode, $0) }
    }

    /// Why actions wait in the daemon's cluster; nil if a leader carries them out, or if there is no
    /// cluster.
    private static func waits(_ client: Client) async throws(ClientError) -> String? {
        do throws(ClientError) {
            let status = try await client.cluster()
            if status.leader == nil { return "no node leads the cluster: actions wait" }
            return status.link.map { "actions here do not reach the leader: \($0)" }
        } catch {
            guard case .refused(let refusal) = error, refusal.code == .notFound else { throw error }
            return nil
        }
    }

    /// Which actions the daemon refuses, and why; nil if it accepts every action.
    private static func refused(_ stats: [String: UInt64]) -> String? {
        if stats["readOnly"] != 0 {
            return "the daemon's disk is full: it refuses actions, or all that add bytes"
        }
        if stats["stateFull"] ?? 0 != 0 {
            return
                "all states together have reached stateBytesMax: the daemon refuses actions that "
                + "make them larger"
        }
        if stats["memoryFull"] ?? 0 != 0 {
            return "the daemon has reached memoryMax: it refuses actions that make states larger"
        }
        return nil
    }

    // A daemon that refuses a client closes the connection. If the client's hello comes later, the
    // client loses the connection before it reads the reason; a further attempt shows the reason.
    private func attempt() async throws(ClientError) -> Client {
        for _ in 1..<Self.attemptsMax {
            do throws(ClientError) {
                return try await connection.attempt()
            } catch {
                guard case .unanswered = error else { throw error }
            }
        }
        return try await connection.attempt()
    }

    /// Maximum number of attempts to connect while the daemon closes each without a reason.
    private static let attemptsMax = 5

    /// Whether an error is an answer of a daemon.
    private static func isAnswer(_ error: ClientError) -> Bool {
        switch error {
        case .closed, .refused: true
        default: false
        }
    }
}
