import DeployExample
import ReactorCore
import ReactorTesting
import Testing

/// The whole application in one simulation: projects and runs that come and go, workers that die,
/// restarts, timers.
enum DeploySimulation {
    /// Sets the traffic of workers and clients below the root. Each client is a worker too; most
    /// reports come from the run's worker, and those of other clients are refused.
    static func addTraffic<Root: Reactor>(to simulation: Simulation<Root>) {
        simulation.traffic(to: "/workers", of: Workers.self, percent: 25) { random in
            .next(name: "worker \(Int.random(in: 0...9, using: &random))")
        }
        simulation.traffic(toChildrenOf: "/projects", of: Project.self, percent: 20) {
            random, _, project in
            if random.chance(70) { return .build() }
            if random.chance(30) { return .undo }
            var settings = project.settings.value
            settings.isPaused = random.chance(20)
            settings.deployScript = random.chance(50) ? "ship" : nil
            settings.next = random.chance(30) ? "p\(Int.random(in: 0...3, using: &random))" : nil
            return .configure(settings)
        }
        simulation.traffic(toChildrenOf: "/projects/*/runs", of: Run.self, percent: 35) {
            random, client, path, run in
            if random.chance(10) { return .cancel }
            guard run.phase == .running else { return nil }
            let isMine = !client.ownedKeys(at: "\(path)").isEmpty
            return isMine || random.chance(20) ? .finish(succeeded: random.chance(80)) : nil
        }
    }

    /// Permits every disturbance.
    static func addDisturbances<Root: Reactor>(to simulation: Simulation<Root>) {
        simulation.restartsMax = 1
        simulation.recoveriesMax = 3
        simulation.deathsMax = 4
        simulation.pauseMax = .milliseconds(10)
    }

    /// The only project that is removed; a new one of this name begins with the number 1 again.
    static let removedPath = "/projects/p3"

    /// Draws an action for the root.
    static func rootAction(_ random: inout SeededRandom) -> Coordinator.Action {
        let name = "p\(Int.random(in: 0...3, using: &random))"
        if random.chance(70) { return .add(project: name) }
        return random.chance(50) ? .remove(project: "p3") : .release([name, "p0"])
    }

    /// Hooks whose every third deployment fails.
    static func hooks() -> Hooks {
        Hooks(
            deploy: { deployment in
                if deployment.run.number % 3 == 0 { throw Rejection("broken", "a broken script") }
                return "deployed"
            }, announce: { _ in })
    }
}

@Suite("A simulation of the deploy coordinator")
struct DeploySimulationTests {
    @Test("the coordinator passes every storm", arguments: 0..<12 as Range<UInt64>)
    func storm(seed: UInt64) {
        let simulation = Simulation(seed: seed, clients: 4) {
            Coordinator(hooks: DeploySimulation.hooks())
        }
        DeploySimulation.addTraffic(to: simulation)
        simulation.traffic(to: "/settings", of: Settings.self, percent: 5) { random in
            switch Int.random(in: 0...3, using: &random) {
            case 0: .attemptsMax(Int.random(in: 1...4, using: &random))
            case 1: .runsMax(Int.random(in: 1...3, using: &random))
            case 2: .retryPause(.milliseconds(20))
            default: .timeout(.milliseconds(Int.random(in: 20...200, using: &random)))
            }
        }
        DeploySimulation.addDisturbances(to: simulation)
        simulation.demand(sentAtLeast: 20, appliedAtLeast: 5, to: "/workers")
        simulation.demand(sentAtLeast: 10, appliedAtLeast: 10, to: "/projects")
        simulation.demand(sentAtLeast: 5, to: "/projects/*/runs")
        DeployInvariants.add(to: simulation)
        var orphans: [RunID] = []
        simulation.invariant(ofTree: "the orphans are known") { tree in
            orphans = tree.orphans
            return true
        }
        simulation.run(steps: 250) { random in DeploySimulation.rootAction(&random) }
        #expect(orphans == [], "seed \(seed)")
    }
}
