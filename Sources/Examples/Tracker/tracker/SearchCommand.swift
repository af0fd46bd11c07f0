import ArgumentParser
import ReactorClient
import ReactorCore
import TrackerExample

/// `tracker search`: finds issues by a part of their titles.
struct SearchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Find open issues by a part of their titles.")

    @OptionGroup var connection: TrackerConnection
    @Argument(help: "What to look for.") var text: String

    func run() async throws {
        let tracker = try await connection.tracker()
        try await tracker.dispatch(.search(text)).get()
        var shown = ""
        for await state in tracker.states() {
            guard state.search.text == text else {
                throw Complaint("another client searches for \(state.search.text)")
            }
            if state.searchText != shown { StandardOutput.write(state.searchText) }
            shown = state.searchText
            if !state.search.found.isLoading { break }
        }
    }
}
