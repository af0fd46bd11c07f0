import ArgumentParser
import ReactorClient
import TrackerExample

/// `tracker close`: closes an issue.
struct CloseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "close", abstract: "Close an issue.")

    @OptionGroup var connection: TrackerConnection
    @Argument(help: "The issue's number.") var number: Int

    func run() async throws {
        try await connection.issue(number).dispatch(.close).get()
    }
}
