import ArgumentParser
import DeployExample
import ReactorClient
import ReactorCore

/// `deploy build`: queues a run and prints its number.
struct BuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "build", abstract: "Queue a run of a project and print its number.")

    @OptionGroup var connection: DeployConnection
    @Argument(help: "The project.") var project: String

    func run() async throws {
        let reply = try await connection.project(project).dispatch(.build()).get().reply
        if let reply { StandardOutput.write("\(reply.number)") }
    }
}

/// `deploy release`: queues a run of several projects, all or nothing.
struct ReleaseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "release", abstract: "Queue a run of several projects, or of none.")

    @OptionGroup var connection: DeployConnection
    @Argument(help: "The projects.") var projects: [String]

    func run() async throws {
        try await connection.coordinator().dispatch(.release(projects)).get()
    }
}

/// `deploy cancel`: ends a run.
struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Cancel a run.")

    @OptionGroup var connection: DeployConnection
    @Argument(help: "The project.") var project: String
    @Argument(help: "The run's number.") var number: Int

    func run() async throws {
        try await connection.run(number, of: project).dispatch(.cancel).get()
    }
}

/// `deploy limit`: sets the number of runs at the same time.
struct LimitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "limit", abstract: "Set how many runs may run at the same time.")

    @OptionGroup var connection: DeployConnection
    @Argument(help: "The number.") var count: Int

    func run() async throws {
        let settings = try await connection.client().mirror(Coordinator.settingsPath)
        try await settings.dispatch(.runsMax(count)).get()
    }
}

/// `deploy show`: prints a run after every change, until it has ended.
struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Follow a run to its end.")

    @OptionGroup var connection: DeployConnection
    @Argument(help: "The project.") var project: String
    @Argument(help: "The run's number.") var number: Int

    func run() async throws {
        let run = try await connection.run(number, of: project)
        for await state in run.states() {
            let attempt = state.attempt > 1 ? " (attempt \(state.attempt))" : ""
            StandardOutput.write(
                "\(state.phase)\(attempt)\(state.log.last.map { ": \($0)" } ?? "")")
            if state.phase.isEnd { break }
        }
    }
}
