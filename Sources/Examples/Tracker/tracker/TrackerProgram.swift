import ArgumentParser

/// `tracker`: the client of `tracker-daemon`.
@main
struct TrackerProgram: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tracker",
        abstract: "Opens, lists and follows issues.",
        version: "1.0",
        subcommands: [
            OpenCommand.self, CommentCommand.self, CloseCommand.self, RemindCommand.self,
            ListCommand.self, SearchCommand.self, WatchCommand.self,
        ])
}
