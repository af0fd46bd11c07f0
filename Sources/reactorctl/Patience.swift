import ArgumentParser
import Glibc
import ReactorClient
import ReactorLoop
import ReactorWire

/// How long a command waits for an outcome.
struct Patience: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            How long to wait in all, such as 5s or 300ms; then the command ends with 75. Without it, \
            a command that has no terminal ends with 75 when there was no daemon for 60s, or for \
            what REACTORCTL_PATIENCE says.
            """,
            valueName: "duration"))
    var timeout: String?

    /// For how long a command without a terminal does without a daemon.
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

    /// What was asked for.
    var limit: Duration? { timeout.flatMap { DurationText.parse($0) } }

    private static var absence: String {
        let text = ProcessPlace.environment[absenceVariable] ?? ""
        return text.isEmpty ? absenceDefault : text
    }

    /// Ends the process when the time is over that was asked for; `what` says what did not come.
    ///
    /// Cancel the task when it has come.
    func begin(_ what: String) -> Task<Void, Never>? {
        guard let limit, let timeout else { return nil }
        return Task {
            do { try await Task.sleep(for: limit) } catch { return }
            Self.end("\(what) within \(timeout)")
        }
    }

    /// Ends the process when no outcome came for the time that was asked for, while one was owed.
    func begin(_ tally: Tally) -> Task<Void, Never>? {
        guard let limit, let timeout else { return nil }
        return Task {
            var last = tally.count
            while (try? await Task.sleep(for: limit)) != nil {
                if tally.isOwed, tally.count == last { Self.end("no outcome within \(timeout)") }
                last = tally.count
            }
        }
    }

    /// Ends the process when there was no daemon for too long, where no time was asked for and
    /// nobody is there to press Ctrl-C.
    ///
    /// Cancel the task when what was waited for has come.
    func watch(_ client: Client) -> Task<Void, Never>? {
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
                    Self.end("the daemon was gone for \(Self.absence)")
                }
                _ = try? await client.becomesLive()
                end.cancel()
            }
        }
    }

    private static func end(_ text: String) -> Never {
        Output.complain("\(text): look at the state before you try again")
        Glibc.exit(Failure.unknownCode)
    }
}
