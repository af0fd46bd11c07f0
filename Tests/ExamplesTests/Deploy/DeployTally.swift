import DeployExample
import ReactorClient
import ReactorCore
import ReactorTesting

/// What happened in a simulation of the deploy coordinator, so that a test can demand enough of it.
final class DeployTally: CustomStringConvertible {
    /// Restarts without the history.
    var restarts = 0
    /// Runs whose end was announced.
    var announced: Set<RunID> = []
    /// Revisions of the runs that workers got as the answer to their request.
    private(set) var answers: Set<Revision> = []
    /// Runs whose worker's time was over.
    private(set) var expired: Set<RunID> = []
    /// Runs that were performed more than once.
    private(set) var retried: Set<RunID> = []
    /// Runs that the plan of a night has queued.
    private(set) var nightly: Set<RunID> = []
    /// Runs that a trigger has queued.
    private(set) var triggered: Set<RunID> = []
    /// Revisions of changes that were taken back.
    private(set) var undone: Set<Revision> = []
    /// Revisions of undos that were taken back.
    private(set) var redone: Set<Revision> = []
    /// Revisions of pauses outside a batch.
    private(set) var paused: Set<Revision> = []
    /// Transactions that changed the limits and a project, as only a batch does.
    private(set) var freezes = 0
    private var revision = Revision(epoch: 0, sequence: 0)
    private var settings = Settings.State()
    private var pausedProjects: Set<String> = []

    /// Counts in the run of `simulation`.
    init<Root: Reactor>(of simulation: Simulation<Root>) {
        simulation.invariant(ofTree: "the runs are counted") { [unowned self] tree in
            count(tree)
            return true
        }
        simulation.invariant(ofClients: "the outcomes are counted") { [unowned self] client in
            count(client)
            return true
        }
    }

    var description: String {
        "\(restarts) restarts, \(answers.count) answers, \(expired.count) expired, "
            + "\(retried.count) retried, \(nightly.count) nightly, \(undone.count) undone, "
            + "\(redone.count) redone, \(paused.count) paused, \(freezes) freezes, "
            + "\(announced.count) announced, \(triggered.count) triggered"
    }

    private func count(_ tree: SimulatedTree) {
        for run in tree.children(of: Run.self, at: "/projects/*/runs") {
            guard let id = run.id else { continue }
            if run.state.log.contains("its time was over") { expired.insert(id) }
            if run.state.attempt > 1 { retried.insert(id) }
        }
        var paused: Set<String> = []
        for project in tree.children(of: Project.self, at: "/projects") {
            guard let name = project.key(as: String.self) else { continue }
            if project.state.settings.value.isPaused { paused.insert(name) }
            for (number, line) in project.state.lines {
                let run = RunID(project: name, number: number)
                if line.because == "nightly" { nightly.insert(run) }
                if line.because == "trigger" { triggered.insert(run) }
            }
        }
        let limits = tree.state(of: Settings.self, at: "/settings") ?? Settings.State()
        // A crash may lose the end of a history, and its changes are no transaction.
        let isNext =
            tree.revision.epoch == revision.epoch
            && tree.revision.sequence == revision.sequence + 1
        if isNext, limits != settings, !paused.isSubset(of: pausedProjects) { freezes += 1 }
        (revision, settings, pausedProjects) = (tree.revision, limits, paused)
    }

    private func count(_ client: SimulatedView) {
        for sent in client.outcomes(of: Workers.self) where sent.reply != nil {
            if let revision = sent.outcome.revision { answers.insert(revision) }
        }
        for sent in client.outcomes(of: Project.self) {
            guard let revision = sent.outcome.revision else { continue }
            switch sent.action {
            case .undo, .undoOwn: undone.insert(revision)
            case .redo: redone.insert(revision)
            case .pause: paused.insert(revision)
            case .build, .configure, .nightly: break
            }
        }
    }
}
