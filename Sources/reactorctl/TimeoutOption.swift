import ArgumentParser
import Glibc
import ReactorClient
import ReactorLoop
import ReactorWire

/// The time limit of a command that waits for an outcome.
struct TimeoutOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            The longest wait, such as 5s or 300ms; then the command ends with 75. Without this \
            option, a command that has no terminal ends with 75 once there was no daemon for 60s, \
            or for the time in REACTORCTL_PATIENCE.
            """,
            valueName: "duration"))
    var timeout: String?

    /// How long a command without a terminal waits for an absent daemon.
    private static let absenceDefault = "60s"
    private static let absenceVariable = "REACTORCTL_PATIENCE"

    mutating func validate() throws {
        if let timeout, DurationText.parse(timeout) == nil {
            throw ValidationError("--timeout \(timeout): expected \(DurationText.expectation)")
        }
        if DurationText.parse(Self.absence) == nil {
            throw ValidationError(
                "\(Self.absenceVariable) \(Self.absence): expected \(DurationText.expectation)")
        }
    }

    /// The value of --timeout.
    var limit: Duration? { timeout.flatMap { DurationText.parse($0) } }

    private static var absence: String {
        let text = ProcessEnvironment.environment[absenceVariable] ?? ""
        return text.isEmpty ? absenceDefault : text
    }

    /// Ends the process after the timeout; `what` names the missing result.
    ///
    /// Cancel the task when the result has arrived.
    func begin(_ what: String) -> Task<Void, Never>? {
        guard let limit, let timeout else { return nil }
        return Task {
            do { try await Task.sleep(for: limit) } catch { return }
            Self.end("\(what) within \(timeout)")
        }
    }

    /// Ends the process if no outcome arrives within the timeout while one is expected; prints the
    /// summary before.
    func begin(_ outcomes: OutcomeCounter) -> Task<Void, Never>? {
        guard let limit, let timeout else { return nil }
        return Task {
            var last = outcomes.count
            while (try? await Task.sleep(for: limit)) != nil {
                if outcomes.isOwed, outcomes.count == last {
                    outcomes.endEarly("no outcome within \(timeout)")
                    Glibc.exit(Failure.unknownCode)
                }
                last = outcomes.count
            }
        }
    }

    /// Ends the process if the daemon is absent for too long; calls `onEnd` before. Applies
    /// without --timeout, when there is no terminal at which a person could press Ctrl-C.
    ///
    /// Cancel the task when the result has arrived.
    func watch(
        _ client: Client, onEnd: @escaping @Sendable () -> Void = {}
    ) -> Task<Void, Never>? {
        guard limit == nil, !Output.hasTerminal, let limit = DurationText.parse(Self.absence) else {
            return nil
        }
        return Task {
            while !Task.isCancelled {
                guard let number = try? await client.connectionCount(),
                    (try? await client.connectionEnds(number)) != nil
                else { return }
                let end = Task {
                    do { try await Task.sleep(for: limit) } catch { return }
                    onEnd()
                    Self.end("no daemon for \(Self.absence)")
                }
                _ = try? await client.becomesLive()
                end.cancel()
            }
        }
    }

    private static func end(_ text: String) -> Never {
        Output.complain("\(text): check the state before you try again")
        Glibc.exit(Failure.unknownCode)
    }
}

/// The options of every command: how to reach the daemon.
struct ConnectionOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The daemon's socket; by default REACTORD_SOCKET, or the first usual path that accepts.",
            valueName: "path"))
    var socket: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The daemon whose usual paths are tried; by default reactord.", valueName: "name"))
    var daemon: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The daemon's user, if neither this user nor root.", valueName: "uid"))
    var daemonUid: UInt32?

    /// The socket, or the places where the daemon's socket is searched.
    private var place: DaemonAddress {
        socket.map { .socket($0) } ?? DaemonAddress.daemon(daemon ?? "reactord")
    }

    /// Connects once, without waiting for a busy daemon.
    func attempt() async throws(ClientError) -> Client {
        var options = ClientOptions(program: "reactorctl")
        options.busyTimeout = 0
        options.daemonUID = daemonUid
        return try await Client.connect(to: place, options: options)
    }

    /// Connects; the error lists the tried sockets.
    func connect() async throws(Failure) -> Client {
        var options = ClientOptions(program: "reactorctl")
        options.inFlightMax = 4_096
        options.daemonUID = daemonUid
        return try await Failure.explain { () throws(ClientError) in
            try await Client.connect(to: place, options: options)
        }
    }
}
