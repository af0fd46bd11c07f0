import ArgumentParser
import DeployExample
import ReactorClient
import ReactorCore

/// `deploy add`: adds a project.
struct AddCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a project.")

    @OptionGroup var connection: DeployConnection
    @Argument(help: "Its name.") var project: String

    func run() async throws {
        try await connection.coordinator().dispatch(.add(project: project)).get()
    }
}

/// `deploy remove`: removes a project with its runs.
struct RemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a project with its runs.")

    @OptionGroup var connection: DeployConnection
    @Argument(help: "Its name.") var project: String

    func run() async throws {
        try await connection.coordinator().dispatch(.remove(project: project)).get()
    }
}

/// `deploy set`: changes settings of a project, unless another client changes them at the same
/// time.
struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change the settings of a project.")

    @OptionGroup var connection: DeployConnection
    @Argument(help: "Its name.") var project: String
    @Option(help: "The script that a worker performs.") var script: String?
    @Option(help: "The script that the daemon performs then; '' for none.") var deployScript:
        String?
    @Option(help: "Where that script deploys.")
    var environment: Environment?
    @Option(help: "The time of the nightly run in UTC, such as 02:30; '' for none.")
    var nightly: String?
    @Option(help: "The project to build after a success; '' for none.") var next: String?
    @Flag(inversion: .prefixedNo, help: "Refuse new runs.") var paused: Bool?

    func run() async throws {
        let project = try await connection.project(project)
        let revision = project.revision
        var settings = project.settings.value
        if let script { settings.script = script }
        if let deployScript { settings.deployScript = deployScript.isEmpty ? nil : deployScript }
        if let environment { settings.environment = environment }
        if let nightly { settings.nightly = try Self.time(nightly) }
        if let next { settings.next = next.isEmpty ? nil : next }
        if let paused { settings.isPaused = paused }
        try await project.dispatch(.configure(settings), if: revision).get()
    }

    private static func time(_ text: String) throws -> TimeOfDay? {
        if text.isEmpty { return nil }
        let parts = text.split(separator: ":").map { Int($0) ?? -1 }
        guard parts.count == 2, (0..<24).contains(parts[0]), (0..<60).contains(parts[1]) else {
            throw ValidationError("expected a time such as 02:30, got \(text)")
        }
        return TimeOfDay(hour: parts[0], minute: parts[1])
    }
}

/// `deploy undo`: takes back the last change of a project's settings.
struct UndoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Take back the last change of a project's settings.")

    @OptionGroup var connection: DeployConnection
    @Argument(help: "Its name.") var project: String
    @Flag(help: "Take back the last undo.") var redo = false
    @Flag(help: "Take back the last change only if it is this user's.") var own = false

    func validate() throws {
        if redo && own { throw ValidationError("--own takes back a change, and --redo an undo") }
    }

    func run() async throws {
        let action: Project.Action = redo ? .redo : own ? .undoOwn : .undo
        try await connection.project(project).dispatch(action).get()
    }
}

/// `deploy targets`: prints what is deployed where.
struct TargetsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "targets", abstract: "Print which runs of a project are deployed where.")

    @OptionGroup var connection: DeployConnection
    @Argument(help: "The project.") var project: String

    func run() async throws {
        _ = try await connection.project(project)
        let targets = try await connection.client()
            .collection(\.$targets, of: Coordinator.path(of: project))
        for target in targets.states {
            guard let run = target.run else { continue }
            StandardOutput.write("\(target.key) \(RunID(project: project, number: run))")
        }
    }
}

/// `deploy freeze`: pauses several projects and stops further starts, all or nothing.
struct FreezeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "freeze",
        abstract: "Pause several projects, and start no waiting run; all or nothing.")

    @OptionGroup var connection: DeployConnection
    @Argument(help: "The projects.") var projects: [String]

    func run() async throws {
        let client = try await connection.client()
        // Each project pauses with the settings that it has by then: a change that another client
        // makes at the same time remains.
        let outcome = try await client.atomically { batch in
            batch.send(.runsMax(0), to: Coordinator.settingsPath)
            for name in projects { batch.send(.pause, to: Coordinator.path(of: name)) }
        }
        try outcome.get()
    }
}
