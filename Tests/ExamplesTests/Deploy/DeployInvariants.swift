import DeployExample
import ReactorClient
import ReactorCore
import ReactorTesting

/// What must always hold in a coordinator, over all its reactors together.
enum DeployInvariants {
    static func add(to simulation: Simulation<Coordinator>) {
        addQueue(to: simulation)
        addRuns(to: simulation)
        addClients(to: simulation)
    }

    /// The queue and the numbers agree with the projects and their runs.
    private static func addQueue(to simulation: Simulation<Coordinator>) {
        simulation.invariant(ofTree: "the limit at the last start permits what runs") { tree in
            guard let queue = tree.state(of: Coordinator.self), let last = queue.running.last
            else { return true }
            let limits = tree.state(of: Run.self, at: "\(last.path.path)")?.limits
            return queue.running.count <= limits?.runsMax ?? 0
        }
        simulation.invariant(ofTree: "the queue lists the runs by what they do") { tree in
            guard let queue = tree.state(of: Coordinator.self) else { return true }
            let waiting = tree.ids { $0 == .waiting }
            let running = tree.ids { $0 == .running || $0 == .deploying }
            return Set(queue.waiting) == waiting && queue.waiting.count == waiting.count
                && Set(queue.running) == running && queue.running.count == running.count
        }
        simulation.invariant(ofTree: "the projects list their runs and their phases") { tree in
            tree.children(of: Project.self, at: "/projects").allSatisfy { project in
                let runs = tree.children(of: Run.self, at: "\(project.path)/runs")
                return project.state.numbers == runs.compactMap { Int($0.key.text) }.sorted()
                    && runs.allSatisfy { run in
                        let line = project.state.lines[Int(run.key.text) ?? 0]
                        return line?.phase == run.state.phase
                    }
            }
        }
        simulation.invariant(ofTree: "the statistics count the projects and their runs") { tree in
            var counted = DeployStats()
            for project in tree.children(of: Project.self, at: "/projects") {
                var stats = RunStats()
                let runs = tree.children(of: Run.self, at: "\(project.path)/runs")
                for run in runs { stats.add(run.state.phase) }
                counted.add(stats)
                let shown = tree.value(of: RunStats.self, at: "\(project.path)/stats")
                if shown != stats { return false }
            }
            return tree.value(of: DeployStats.self, at: "/stats") == counted
        }
    }

    /// Runs and workers belong together.
    private static func addRuns(to simulation: Simulation<Coordinator>) {
        simulation.invariant(ofTree: "a run has a worker exactly while it runs") { tree in
            tree.runs.allSatisfy { ($0.state.worker != nil) == ($0.state.phase == .running) }
        }
        simulation.invariant(ofTree: "a worker owns its run, and its time is limited") { tree in
            tree.runs.allSatisfy { run in
                guard let owners = tree.owners(at: "\(run.path)"),
                    let plans = tree.plans(of: Run.self, at: "\(run.path)")
                else { return true }
                let worker = run.state.worker
                return owners.map(\.connection) == (worker.map { [$0.connection] } ?? [])
                    && plans.contains { $0.action == .expire } == (worker != nil)
                    && plans.contains { $0.action == .retry } == (run.state.phase == .pausing)
            }
        }
        simulation.invariant(ofTree: "an idle worker is a connected one, and is listed once") {
            tree in
            guard let workers = tree.state(of: Workers.self, at: "/workers") else { return true }
            let idle = workers.idle.map(\.worker.connection)
            return Set(idle).count == idle.count
                && idle.allSatisfy { workers.names[$0] != nil }
        }
        simulation.invariant(ofTree: "a run that has ended does not go on") { tree in
            tree.runs.allSatisfy { !$0.state.phase.isEnd || !$0.state.log.isEmpty }
        }
    }

    /// What clients see agrees with the outcomes of their actions.
    private static func addClients(to simulation: Simulation<Coordinator>) {
        simulation.invariant(ofClients: "two builds never get the same number") { client in
            let built = client.outcomes(of: Project.self).compactMap { sent -> String? in
                guard sent.path != DeploySimulation.removedPath, let number = sent.reply?.number
                else { return nil }
                return "\(sent.path)/\(number) in \(sent.outcome.revision?.epoch ?? 0)"
            }
            return Set(built).count == built.count
        }
        simulation.invariant(ofClients: "a client sees the runs that it built") { client in
            let projects = client.children(of: Project.self, at: "/projects")
            return client.outcomes(of: Project.self).allSatisfy { sent in
                guard client.shows(sent), let number = sent.reply?.number,
                    sent.path != DeploySimulation.removedPath
                else { return true }
                let project = projects.first { "\($0.path)" == sent.path }
                return project?.state.lastNumber ?? 0 >= number
            }
        }
    }
}

extension SimulatedTree {
    /// All runs of all projects.
    var runs: [SimulatedChild<Run.State>] { children(of: Run.self, at: "/projects/*/runs") }

    /// The runs whose worker has gone.
    var orphans: [RunID] {
        let names = state(of: Workers.self, at: "/workers")?.names ?? [:]
        return ids { $0 == .running }.filter { run in
            let worker = state(of: Run.self, at: "\(run.path.path)")?.worker
            return worker.map { names[$0.connection] == nil } ?? true
        }
    }

    /// The runs in certain phases.
    func ids(where isWanted: (RunPhase) -> Bool) -> Set<RunID> {
        Set(
            runs.filter { isWanted($0.state.phase) }.map { run in
                let names = run.path.components.map(\.text)
                return RunID(project: names[1], number: Int(names[3]) ?? 0)
            })
    }
}
