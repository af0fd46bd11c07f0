import DeployExample
import ReactorClient
import ReactorCore
import ReactorTesting

/// What must always hold in a coordinator, over all its reactors together. Before an upgrade to it,
/// only the claims about runs and workers, which are the same reactors in the version before.
enum DeployInvariants {
    /// Without an `outside`, no claim is made about announcements: before an upgrade, other ones
    /// were made.
    static func add<Root: Reactor>(
        to simulation: Simulation<Root>, outside: FlakyOutside? = nil
    ) {
        // After each transaction the simulation checks the conditions in this order: the first one
        // takes the picture that the others read.
        var picture = DeployPicture()
        simulation.invariant(ofTree: "the reactors are looked up") { tree in
            picture = DeployPicture(tree, after: picture)
            picture.announced = outside?.announced
            return true
        }
        for claim in Claim.allCases {
            simulation.invariant(ofTree: claim.rawValue) { _ in claim.holds(in: picture) }
        }
        addClients(to: simulation)
    }

    /// A condition over all reactors; its raw value is its title.
    enum Claim: String, CaseIterable {
        case limit = "the limit at the last start permits what runs"
        case queue = "the queue lists the runs by what they do"
        case projects = "the projects list their runs and their phases"
        case nights = "a project plans its nightly run exactly if it has a time"
        case targets = "an environment has a run that was deployed there"
        case statistics = "the statistics count the projects and their runs"
        case worker = "a run has a worker exactly while it runs"
        case ownership = "a worker owns its run, and its time is limited"
        case idleWorkers = "an idle worker is a connected one, and is listed once"
        case end = "a run that has ended does not go on"
        case news = "the end of a run is announced, or is still to be announced"

        func holds(in picture: DeployPicture) -> Bool {
            switch self {
            case .limit: picture.keepsLimit
            case .queue: picture.queuesRuns
            case .projects: picture.listsRuns
            case .nights: picture.plansNights
            case .targets: picture.deploysRuns
            case .statistics: picture.countsRuns
            case .worker: picture.hasWorkersWhileRunning
            case .ownership: picture.ownsAndLimitsRuns
            case .idleWorkers: picture.listsIdleWorkersOnce
            case .end: picture.endsRunsOnce
            case .news: picture.announcesEnds
            }
        }
    }
}

extension DeployPicture {
    fileprivate var keepsLimit: Bool {
        guard let queue, let last = queue.running.last else { return true }
        return queue.running.count <= runs[last]?.state.limits.runsMax ?? 0
    }

    fileprivate var queuesRuns: Bool {
        guard let queue else { return true }
        let waiting = ids { $0 == .waiting }
        let running = ids { $0 == .running || $0 == .deploying }
        return Set(queue.waiting) == waiting && queue.waiting.count == waiting.count
            && Set(queue.running) == running && queue.running.count == running.count
    }

    fileprivate var listsRuns: Bool {
        projects.allSatisfy { name, project in
            let runs = numberedRuns(of: name)
            return project.numbers == runs.keys.sorted()
                && runs.allSatisfy { project.lines[$0.key]?.phase == $0.value.phase }
        }
    }

    fileprivate var plansNights: Bool {
        nightlyPlans.allSatisfy { name, isPlanned in
            guard let project = projects[name] else { return true }
            return isPlanned == (project.settings.value.nightly != nil)
        }
    }

    fileprivate var deploysRuns: Bool {
        guard queue != nil else { return true }
        let isKnown = runs.allSatisfy { id, run in
            !run.state.isDeployed || targets[id.project]?[run.state.order.environment] != nil
        }
        return isKnown
            && targets.allSatisfy { name, targets in
                targets.allSatisfy { isDeployed($1.run, of: name, in: $0) }
            }
    }

    private func isDeployed(
        _ number: Int?, of project: String, in environment: Environment
    ) -> Bool {
        guard let number else { return false }
        // The project may have removed the run since.
        guard let run = runs[RunID(project: project, number: number)]?.state else {
            return number <= projects[project]?.lastNumber ?? 0
        }
        return run.isDeployed && run.order.environment == environment
    }

    fileprivate var countsRuns: Bool {
        guard queue != nil else { return true }
        var counted = DeployStats()
        for name in projects.keys {
            var counts = RunStats()
            for run in numberedRuns(of: name).values { counts.add(run.phase) }
            counted.add(counts)
            if projectStats[name] != counts { return false }
        }
        return stats == counted
    }

    fileprivate var hasWorkersWhileRunning: Bool {
        runs.values.allSatisfy { ($0.state.worker != nil) == ($0.state.phase == .running) }
    }

    fileprivate var ownsAndLimitsRuns: Bool {
        runs.values.allSatisfy { run in
            guard let owners = run.owners, let plans = run.plans else { return true }
            let worker = run.state.worker
            return owners == (worker.map { [$0.connection] } ?? [])
                && plans.contains(.expire) == (worker != nil)
                && plans.contains(.retry) == (run.state.phase == .pausing)
        }
    }

    fileprivate var listsIdleWorkersOnce: Bool {
        guard let workers else { return true }
        let idle = workers.idle.map(\.worker.connection)
        return Set(idle).count == idle.count && idle.allSatisfy { workers.names[$0] != nil }
    }

    fileprivate var endsRunsOnce: Bool {
        ended.allSatisfy { id, end in
            guard let run = runs[id]?.state else { return true }
            return run.phase == end.phase && run.attempt == end.attempt
        }
    }
}

extension DeployPicture {
    fileprivate var announcesEnds: Bool {
        guard let announced, let queue else { return true }
        let news = announced.union(queue.announcements.map(\.run))
        return news.isSuperset(of: ids(where: \.isEnd))
    }
}

// MARK: - What clients see
extension DeployInvariants {
    /// A client's build: the reply that it received.
    struct Build: Sendable {
        /// The project's path.
        var path: String
        /// The run's number in the reply.
        var number: Int
        /// The epoch of the outcome; 0 without one.
        var epoch: UInt64
        /// Whether the client's mirrors are new enough to show the run.
        var isShown = true

        /// Whether the numbers of the project may begin again.
        fileprivate var isRemovable: Bool { path == DeploySimulation.removedPath }
    }

    private static func addClients<Root: Reactor>(to simulation: Simulation<Root>) {
        simulation.invariant(ofClients: "two builds never get the same number") { client in
            hasNumberOnce(builds(of: client))
        }
        simulation.invariant(ofClients: "a client sees the runs that it built") { client in
            let projects = client.children(of: Project.self, at: "/projects")
            let numbers = Dictionary(
                projects.map { ("\($0.path)", $0.state.lastNumber) }, uniquingKeysWith: { $1 })
            return isSeen(builds(of: client), in: numbers)
        }
    }

    /// Whether each build has a number for itself in its project.
    static func hasNumberOnce(_ builds: [Build]) -> Bool {
        let runs = builds.filter { !$0.isRemovable }
            .map { "\($0.path)/\($0.number) in \($0.epoch)" }
        return Set(runs).count == runs.count
    }

    /// Whether the numbers of the newest runs that a client sees, by the paths of their projects,
    /// include its builds.
    static func isSeen(_ builds: [Build], in lastNumbers: [String: Int]) -> Bool {
        builds.allSatisfy { build in
            !build.isShown || build.isRemovable
                || lastNumbers[build.path, default: 0] >= build.number
        }
    }

    private static func builds(of client: SimulatedView) -> [Build] {
        client.outcomes(of: Project.self).compactMap { sent -> Build? in
            guard let number = sent.reply?.number else { return nil }
            return Build(
                path: sent.path, number: number, epoch: sent.outcome.revision?.epoch ?? 0,
                isShown: client.shows(sent))
        }
    }
}
