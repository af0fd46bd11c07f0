import DeployExample
import ReactorCore
import ReactorTesting

/// What the invariants of a deploy coordinator read of its reactors, after one transaction.
struct DeployPicture: Sendable {
    /// A run, and what the daemon keeps for it besides its state.
    struct RunRecord: Sendable {
        var state = Run.State()
        /// The connections that own the run; nil where the daemon does not show them.
        var owners: [UInt64]?
        /// The planned actions of the run; nil where the daemon does not show them.
        var plans: [Run.Action]?
    }

    /// The revision after the transaction.
    var revision = Revision(epoch: 0, sequence: 0)
    /// The coordinator's state; nil before an upgrade to it.
    var queue: Coordinator.State?
    /// The projects by their names; none before an upgrade.
    var projects: [String: Project.State] = [:]
    /// Whether each project plans its nightly run; without those
    /// that the daemon does not show.
    var nightlyPlans: [String: Bool] = [:]
    /// What is deployed in the environments of each project.
    var targets: [String: [Environment: Target.State]] = [:]
    /// The statistics that each project shows.
    var projectStats: [String: RunStats] = [:]
    /// The statistics that the coordinator shows; nil before an upgrade.
    var stats: DeployStats?
    /// The runs of all projects.
    var runs: [RunID: RunRecord] = [:]
    /// The workers.
    var workers: Workers.State?
    /// The runs whose end was announced; nil where that is not known.
    var announced: Set<RunID>?
    /// The runs that had ended after the transaction before.
    var ended: [RunID: Run.State] = [:]

    /// The runs of a project, by number.
    func numberedRuns(of project: String) -> [Int: Run.State] {
        Dictionary(
            runs.filter { $0.key.project == project }.map { ($0.key.number, $0.value.state) },
            uniquingKeysWith: { $1 })
    }

    /// The runs in certain phases.
    func ids(where isWanted: (RunPhase) -> Bool) -> Set<RunID> {
        Set(runs.filter { isWanted($0.value.state.phase) }.keys)
    }

    /// The runs that have ended, for the picture at `next`; none if that does not continue this
    /// picture's history.
    func endedRuns(before next: Revision) -> [RunID: Run.State] {
        // A crash may lose the end of a history, and a shortened run begins again.
        guard next.epoch == revision.epoch, next.sequence > revision.sequence else { return [:] }
        return runs.mapValues(\.state).filter { $0.value.phase.isEnd }
    }
}

extension DeployPicture {
    /// Looks up everything in `tree`; `last` is the picture before.
    init(_ tree: SimulatedTree, after last: DeployPicture) {
        self.init()
        revision = tree.revision
        ended = last.endedRuns(before: tree.revision)
        queue = tree.state(of: Coordinator.self)
        for project in tree.children(of: Project.self, at: "/projects") {
            guard let name = project.key(as: String.self) else { continue }
            projects[name] = project.state
            if let plans = tree.plans(of: Project.self, at: "\(project.path)") {
                nightlyPlans[name] = plans.contains { $0.action == .nightly }
            }
            projectStats[name] = tree.value(of: RunStats.self, at: "\(project.path)/stats")
        }
        // The version before shows no statistics, so a look-up there would find nothing.
        if queue != nil { stats = tree.value(of: DeployStats.self, at: "/stats") }
        for run in tree.children(of: Run.self, at: "/projects/*/runs") {
            guard let id = run.id else { continue }
            runs[id] = RunRecord(
                state: run.state, owners: tree.owners(at: "\(run.path)")?.map(\.connection),
                plans: tree.plans(of: Run.self, at: "\(run.path)")?.map(\.action))
        }
        // Before the first deployment, a look-up would find nothing.
        if queue != nil, runs.values.contains(where: \.state.isDeployed) {
            for target in tree.children(of: Target.self, at: "/projects/*/targets") {
                guard let name = target.key(at: 0, as: String.self),
                    let key = target.key(as: Environment.self)
                else { continue }
                targets[name, default: [:]][key] = target.state
            }
        }
        workers = tree.state(of: Workers.self, at: "/workers")
    }
}

extension Run.State {
    /// Whether the daemon has deployed the run.
    var isDeployed: Bool { phase == .succeeded && order.deployScript != nil }
}

extension SimulatedTree {
    /// The runs whose worker has gone.
    var orphans: [RunID] {
        let names = state(of: Workers.self, at: "/workers")?.names ?? [:]
        let running = children(of: Run.self, at: "/projects/*/runs")
            .filter { $0.state.phase == .running }
        return running.filter { run in
            run.state.worker.map { names[$0.connection] == nil } ?? true
        }
        .compactMap(\.id)
    }
}

extension SimulatedChild<Run.State> {
    /// The run's name, as a child that matches `/projects/*/runs`.
    var id: RunID? {
        guard let project = key(at: 0, as: String.self), let number = key(as: Int.self) else {
            return nil
        }
        return RunID(project: project, number: number)
    }
}
