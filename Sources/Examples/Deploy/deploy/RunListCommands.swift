import ArgumentParser
import DeployExample
import ReactorClient
import ReactorCore

/// The options that select runs of a project; the daemon evaluates them.
struct RunSelection: ParsableArguments {
    @Option(help: "Only the runs in this phase, such as failed.")
    var phase: RunPhase?
    @Option(help: "Only the runs from this number on.") var since: Int?

    /// The selected runs, in the order of their numbers.
    func runs(
        of project: String, in connection: DeployConnection
    ) async throws -> MirrorCollection<Int, Run> {
        let range: KeyRange? = since.map { .between($0, nil) }
        let condition: StateCondition<Run.State>? = phase.map { \.phase == $0 }
        return try await connection.explained("no project is called \(project)") {
            try await connection.client().collection(
                \.$runs, of: Coordinator.path(of: project), in: range, where: condition,
                order: .key())
        }
    }
}

extension Run.State {
    /// The run as a line of a list.
    fileprivate func line(_ number: Int) -> String {
        let detail = worker.map { " by \($0.name)" } ?? log.last.map { ": \($0)" } ?? ""
        return "\(number) \(phase)\(detail)"
    }
}

/// `deploy runs`: prints the kept runs of a project.
struct RunsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "runs", abstract: "Print the runs of a project.")

    @OptionGroup var connection: DeployConnection
    @OptionGroup var selection: RunSelection
    @Argument(help: "The project.") var project: String

    func run() async throws {
        let runs = try await selection.runs(of: project, in: connection)
        for run in runs.states { StandardOutput.write(run.state.line(run.key)) }
    }
}

/// `deploy follow`: prints the runs of a project, then each added, changed and removed run.
struct FollowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow", abstract: "Print the runs of a project, and every change of them.",
        discussion: "A line begins with + for an added run, and with - for a removed run.")

    @OptionGroup var connection: DeployConnection
    @OptionGroup var selection: RunSelection
    @Argument(help: "The project.") var project: String

    func run() async throws {
        let runs = try await selection.runs(of: project, in: connection)
        for await changes in runs.changes {
            for change in changes {
                switch change {
                case .inserted(let number, let run): StandardOutput.write("+ \(run.line(number))")
                case .changed(let number, let run): StandardOutput.write("  \(run.line(number))")
                case .removed(let number): StandardOutput.write("- \(number)")
                }
            }
        }
    }
}

/// `deploy announce`: starts the announcements again.
struct AnnounceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "announce", abstract: "Announce again, after the announcements have stopped.")

    @OptionGroup var connection: DeployConnection

    func run() async throws {
        try await connection.coordinator().dispatch(.announce).get()
    }
}
