import ArgumentParser
import ReactorClient
import TrackerExample

/// `tracker open`: creates an issue and prints its number.
struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Open an issue and print its number.")

    @OptionGroup var connection: TrackerConnection
    @Argument(help: "What it is about.") var title: String

    func run() async throws {
        let reply = try await connection.tracker().dispatch(.open(title: title)).get().reply
        if let reply { StandardOutput.write("\(reply.number)") }
    }
}
