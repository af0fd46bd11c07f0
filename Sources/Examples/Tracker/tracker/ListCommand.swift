import ArgumentParser
import ReactorClient
import ReactorCore
import TrackerExample

/// `tracker list`: prints one line for each open issue, with `--all` for each issue.
struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the open issues.")

    @OptionGroup var connection: TrackerConnection
    @Flag(help: "List the closed ones too.") var all = false

    func run() async throws {
        let state = try await connection.tracker().state
        for number in state.numbers {
            guard let line = state.lines[number], all || line.isOpen else { continue }
            StandardOutput.write("\(number) \(line.isOpen ? "open" : "closed") \(line.title)")
        }
    }
}
