import ArgumentParser
import ReactorClient
import TrackerExample

/// `tracker comment`: adds a comment to an issue.
struct CommentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "comment", abstract: "Comment on an issue.")

    @OptionGroup var connection: TrackerConnection
    @Argument(help: "The issue's number.") var number: Int
    @Argument(help: "What to say.") var text: String

    func run() async throws {
        try await connection.issue(number).dispatch(.comment(text)).get()
    }
}
