import ArgumentParser
import Glibc
import ReactorClient

/// `reactorctl watch`: prints a slice's state now and after every change.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print a slice's state, now and whenever it changes.",
        discussion: "Changes that come faster than they are read are told as one.")

    @OptionGroup var connection: ConnectionOptions

    @Argument(help: "The reactor, or a field of its state.")
    var path: String

    @Option(name: .long, help: ArgumentHelp("End after so many lines.", valueName: "n"))
    var count: Int?

    mutating func validate() throws {
        if let count, count < 1 { throw ValidationError("--count \(count): expected 1 or more") }
    }

    mutating func run() async throws {
        let client = try await connection.connect()
        var left = count ?? .max
        Output.watchReader { Glibc.exit(0) }
        do {
            for try await (revision, value) in client.watch(path) {
                try Output.line(stateLine(revision, value))
                left -= 1
                if left == 0 { break }
            }
        } catch let error as ClientError {
            throw Failure(error, path: path)
        }
        client.close()
    }
}
