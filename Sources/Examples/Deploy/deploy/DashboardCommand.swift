import ArgumentParser
import DeployExample
import Foundation
import ReactorClient
import ReactorCore

/// `deploy dashboard`: shows the queue, the workers and the newest runs of a project, drawn again
/// after each change.
struct DashboardCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dashboard", abstract: "Show what runs, what waits, and for which limit.")

    /// Maximum number of shown runs of a project.
    private static let shownRunsMax = 10

    @OptionGroup var connection: DeployConnection
    @Argument(help: "A project whose newest runs are shown as well.") var project: String?

    func run() async throws {
        let client = try await connection.client()
        let coordinator = try await client.mirror(Coordinator.self, at: "/")
        let settings = try await client.mirror(Coordinator.settingsPath)
        let workers = try await client.mirror(Coordinator.workersPath)
        let stats = try await client.mirror(\.$stats, of: ReactorPath(Coordinator.self))
        var newest: MirrorCollection<Int, Run>?
        var shown: Mirror<Project>?
        if let project {
            shown = try await connection.project(project)
            newest = try await client.collection(
                \.$runs, of: Coordinator.path(of: project), order: .key(isDescending: true),
                first: Self.shownRunsMax)
        }
        await rerunningOnChange {
            let dashboard = Dashboard(
                queue: coordinator.state, runsMax: settings.runsMax, workers: workers.state,
                stats: stats.state, lastSuccess: shown?.state.lastSuccess,
                lastChange: shown?.state.lastChange,
                runs: newest.map { Array($0.states) } ?? [])
            StandardOutput.write(dashboard.text)
        }
    }
}

/// The content of a dashboard, and its text.
struct Dashboard {
    let queue: Coordinator.State
    /// Maximum number of runs at the same time.
    let runsMax: Int
    let workers: Workers.State
    let stats: DeployStats
    /// When a run of the shown project last succeeded.
    let lastSuccess: Date?
    /// The last change of the shown project's settings.
    let lastChange: SettingsChange?
    /// The shown runs, the newest first.
    let runs: [KeyedState<Int, Run.State>]

    /// The lines, with an empty one at the end.
    var text: String {
        let head =
            "\(queue.running.count) of \(runsMax) running, \(queue.waiting.count) waiting, "
            + "\(workers.idle.count) of \(workers.names.count) workers idle"
        let runs = stats.runs
        let ended =
            "\(stats.projects) projects, \(runs.pausing) pausing, \(runs.succeeded) succeeded, "
            + "\(runs.failed) failed, \(runs.cancelled) cancelled"
        let list =
            queue.running.map { "  running \($0)" } + queue.waiting.map { "  waiting \($0)" }
        let success = lastSuccess.map { ["  last success \($0.formatted(.iso8601))"] } ?? []
        let change = lastChange.map { ["  settings changed by user \($0.uid)"] } ?? []
        let detail = self.runs.map { run in
            "  \(run.key) \(run.phase)\(run.worker.map { " by \($0.name)" } ?? "")"
        }
        return
            ([head, ended] + list + success + change + detail
            + queue.notes.suffix(3).map { "  note: \($0)" })
            .joined(separator: "\n") + "\n"
    }
}
