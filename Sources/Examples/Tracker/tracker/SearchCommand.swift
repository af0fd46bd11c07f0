import ArgumentParser
import ReactorClient
import ReactorCore
import TrackerExample

/// `tracker search`: looks for issues.
struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Find open issues by a part of their titles.")

    @OptionGroup var connection: TrackerConnection
    @Argument(help: "What to look for.") var text: String

    func run() async throws {
        let tracker = try await connection.tracker()
        try await tracker.dispatch(.search(text)).get()
        for await search in tracker.states(\.search) {
            guard search.text == text else {
                throw Complaint("somebody looks for \(search.text) instead")
            }
            guard let numbers = search.numbers else { continue }
            for number in numbers {
                TrackerProgram.say("\(number) \(tracker.lines[number]?.title ?? "")")
            }
            break
        }
    }
}
