import ArgumentParser
import ReactorClient
import ReactorWire

/// How recent the daemon's state must be before a command reads it.
struct SyncOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            """
            Read once the daemon's state includes this revision: epoch:sequence, or a sequence of the \
            current epoch.
            """,
            valueName: "revision"))
    var atLeast: String?

    @Flag(
        name: .long,
        help: """
            Read once the state includes every action that any daemon of the cluster has confirmed \
            by now.
            """)
    var consistent = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How long to wait for such a state, such as 5s or 300ms; then the command ends with 75.",
            valueName: "duration"))
    var within = "5s"

    mutating func validate() throws {
        if DurationText.parse(within) == nil {
            throw ValidationError("--within \(within): expected \(DurationText.expectation)")
        }
        if let atLeast, RevisionText.parse(atLeast, epoch: 0) == nil {
            throw ValidationError("--at-least \(atLeast): expected \(RevisionText.expectation)")
        }
    }

    /// Whether any state will do.
    var isEmpty: Bool { atLeast == nil && !consistent }

    /// Waits until the daemon's state is as recent as the options demand; returns its revision, or
    /// nil if they demand nothing.
    @discardableResult
    func sync(_ client: Client) async throws(Failure) -> Revision? {
        let limit = DurationText.parse(within) ?? .zero
        var reached: Revision?
        do throws(ClientError) {
            if let revision = atLeast.flatMap({
                RevisionText.parse($0, epoch: client.welcome.epoch)
            }) {
                reached = try await client.sync(.atLeast(revision), within: limit)
            }
            if consistent { reached = try await client.sync(.linearizable, within: limit) }
        } catch {
            guard case .refused(let refusal) = error else { throw Failure(error) }
            switch refusal.code {
            case .deadline: throw Failure(Failure.unknownCode, refusal.message)
            case .conflict: throw Failure(Failure.noPathCode, refusal.message)
            default: throw Failure(error)
            }
        }
        return reached
    }
}
