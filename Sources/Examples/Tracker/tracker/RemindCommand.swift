import ArgumentParser
import ReactorClient
import ReactorCore
import TrackerExample

/// `tracker remind`: adds a reminder to an issue after a delay.
struct RemindCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remind", abstract: "Remind of something, unless the issue is closed before.")

    @OptionGroup var connection: TrackerConnection
    @Argument(help: "The issue's number.") var number: Int
    @Argument(help: "When, from now: 5s, 2h.", transform: RemindCommand.duration) var delay:
        Duration
    @Argument(help: "What of.") var text: String

    func run() async throws {
        try await connection.issue(number).dispatch(.remind(after: delay, of: text)).get()
    }

    private static func duration(_ text: String) throws -> Duration {
        guard let duration = DurationText.parse(text) else {
            throw ValidationError("expected \(DurationText.expectation)")
        }
        return duration
    }
}
