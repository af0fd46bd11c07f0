import ArgumentParser
import ReactorClient
import TrackerExample

/// `tracker watch`: prints an issue after every change, until the issue is closed.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Follow an issue until it is closed.")

    @OptionGroup var connection: TrackerConnection
    @Argument(help: "The issue's number.") var number: Int

    func run() async throws {
        let issue = try await connection.issue(number)
        for await state in issue.states() {
            StandardOutput.write(state.text)
            if !state.isOpen { break }
        }
    }
}

extension Issue.State {
    fileprivate var text: String {
        let comments = comments.map { "  \($0)\n" }.joined()
        let reminders = reminders.map { "  reminder: \($0)\n" }.joined()
        return "\(title) (\(isOpen ? "open" : "closed"))\n" + comments + reminders
    }
}
