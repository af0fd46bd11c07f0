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
        simulation.traffic(to: "/workers", of: Workers.self, percent: 23) { random in
            .next(name: "worker \(Int.random(in: 0...9, using: &random))")
        }
        simulation.traffic(toChildrenOf: "/projects", of: Project.self, percent: 20) {
            random, _, project in
            if random.chance(60) { return .build() }
            if project.settings.canRedo, random.chance(60) { return .redo }
            if project.settings.canUndo, random.chance(40) {
                return random.chance(50) ? .undo : .undoOwn
            }
            if random.chance(15) { return .pause }
            var settings = project.settings.value
            settings.isPaused = random.chance(20)
            settings.nightly = random.chance(80) ? TimeOfDay(hour: 0, minute: 1) : nil
            settings.environment = random.chance(50) ? .staging : .production
            settings.deployScript = random.chance(50) ? "ship" : nil
            settings.next = random.chance(30) ? "p\(Int.random(in: 0...3, using: &random))" : nil
            return .configure(settings)
        }
        simulation.traffic(toChildrenOf: "/projects/*/runs", of: Run.self, percent: 32) {
            random, client, path, run in
            if random.chance(10) { return .cancel }
            guard run.phase == .running else { return nil }
            let isMine = !client.ownedKeys(at: "\(path)").isEmpty
            return isMine || random.chance(20) ? .finish(exitCode: random.chance(80) ? 0 : 1) : nil
        }
    }

    /// Sets the traffic of programs that know a token.
    static func addTriggers<Root: Reactor>(to simulation: Simulation<Root>) {
        simulation.traffic(toChildrenOf: "/triggers", of: Trigger.self, percent: 5) { _, _, _ in
            .fire
        }
    }

    /// Sets batches that pause projects and set the limit, all or nothing.
    static func addFreezes<Root: Reactor>(to simulation: Simulation<Root>) {
        simulation.traffic(ofBatches: "freeze", percent: 3) { random, client, batch in
            let projects = client.children(of: Project.self, at: "/projects")
            batch.send(
                .runsMax(Int.random(in: 1...3, using: &random)), to: Coordinator.settingsPath)
            for project in projects where random.chance(30) {
                batch.send(Project.Action.pause, to: "\(project.path)")
            }
        }
    }

    /// Sets the traffic to the settings, whose times are short enough for a run; `scale` multiplies
    /// them.
    static func addSettings<Root: Reactor>(to simulation: Simulation<Root>, scale: Int = 1) {
        simulation.traffic(to: "/settings", of: Settings.self, percent: 5) { random in
            switch Int.random(in: 0...3, using: &random) {
            case 0: .attemptsMax(Int.random(in: 1...4, using: &random))
            case 1: .runsMax(Int.random(in: 1...3, using: &random))
            case 2: .retryPause(.milliseconds(20 * scale))
            default: .timeout(.milliseconds(scale * Int.random(in: 20...200, using: &random)))
            }
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
        if random.chance(60) { return .add(project: name) }
        if random.chance(50) { return .openTrigger(project: name) }
        return random.chance(50) ? .remove(project: "p3") : .release([name, "p0"])
    }
}

@Suite("A simulation of the deploy coordinator")
struct DeploySimulationTests {
    /// Runs one storm; returns what happened in it.
    private func storm(seed: UInt64) -> DeployTally {
        let outside = FlakyOutside()
        let simulation = Simulation(seed: seed, clients: 4) { Coordinator(hooks: outside.hooks) }
        DeploySimulation.addTraffic(to: simulation)
        DeploySimulation.addFreezes(to: simulation)
        DeploySimulation.addTriggers(to: simulation)
        DeploySimulation.addSettings(to: simulation)
        DeploySimulation.addDisturbances(to: simulation)
        simulation.demand(sentAtLeast: 20, appliedAtLeast: 5, to: "/workers")
        simulation.demand(sentAtLeast: 10, appliedAtLeast: 10, to: "/projects")
        simulation.demand(sentAtLeast: 5, appliedAtLeast: 3, to: "/projects/*/runs")
        DeployInvariants.add(to: simulation, outside: outside)
        let tally = DeployTally(of: simulation)
        var orphans: [RunID] = []
        simulation.invariant(ofTree: "the orphans are known") { tree in
            orphans = tree.orphans
            return true
        }
        simulation.run(steps: 450) { random in DeploySimulation.rootAction(&random) }
        #expect(orphans == [], "seed \(seed)")
        let counts = simulation.counts
        #expect(counts.applied >= 30, "seed \(seed): \(counts)")
        #expect(counts.deaths >= 1 && counts.recoveries >= 1, "seed \(seed): \(counts)")
        tally.restarts = counts.restarts
        tally.announced = outside.announced
        return tally
    }

    @Test(
        "the coordinator passes every storm, and the storms of a group have every kind of event",
        arguments: [0..<4, 4..<8] as [Range<UInt64>])
    func storms(seeds: Range<UInt64>) {
        let tallies = seeds.map(storm)
        let text = "seeds \(seeds): \(tallies)"
        func sum(_ part: (DeployTally) -> Int) -> Int { tallies.map(part).reduce(0, +) }
        #expect(sum(\.restarts) >= 1, "restarts without the history, \(text)")
        #expect(sum(\.answers.count) >= 30, "answers to workers, \(text)")
        #expect(sum(\.expired.count) >= 5, "expired workers, \(text)")
        #expect(sum(\.retried.count) >= 4, "retries, \(text)")
        #expect(sum(\.undone.count) >= 6, "undone changes, \(text)")
        #expect(sum(\.redone.count) >= 2, "redone changes, \(text)")
        #expect(sum(\.paused.count) >= 2, "pauses, \(text)")
        #expect(sum(\.freezes) >= 2, "batches, \(text)")
        #expect(sum(\.triggered.count) >= 2, "builds by triggers, \(text)")
        #expect(sum(\.announced.count) >= 20, "announcements, \(text)")
    }

    @Test(
        """
        a night passes: the storm lasts longer than a minute, the nightly runs are queued, and \
        announcements that failed are repeated
        """)
    func nights() {
        var (nightly, repeated) = (0, 0)
        for seed in 0..<4 as Range<UInt64> {
            let outside = FlakyOutside()
            let simulation = Simulation(seed: seed, clients: 3) {
                Coordinator(hooks: outside.hooks)
            }
            DeploySimulation.addTraffic(to: simulation)
            DeploySimulation.addSettings(to: simulation, scale: 50)
            DeploySimulation.addDisturbances(to: simulation)
            simulation.restartsMax = 0
            simulation.pauseMax = .milliseconds(800)
            DeployInvariants.add(to: simulation, outside: outside)
            let tally = DeployTally(of: simulation)
            simulation.run(steps: 200) { random in DeploySimulation.rootAction(&random) }
            nightly += tally.nightly.count
            repeated += outside.repeated.count
        }
        #expect(nightly >= 3)
        #expect(repeated >= 3, "announcements after an attempt that failed")
    }

    /// Runs a storm in which today's coordinator replaces the one before; returns the number of the
    /// projects' runs before the upgrade, as today's coordinator first shows it.
    private func upgraded(seed: UInt64) -> Int {
        let simulation = Simulation(seed: seed, clients: 4) { Former.Coordinator() }
        let outside = FlakyOutside()
        simulation.upgrade { Coordinator(hooks: outside.hooks) }
        DeploySimulation.addTraffic(to: simulation)
        DeploySimulation.addSettings(to: simulation)
        DeploySimulation.addDisturbances(to: simulation)
        simulation.restartsMax = 0
        DeployInvariants.add(to: simulation)
        var numbers: [String: Int] = [:]
        var crossed: Int?
        simulation.invariant(ofTree: "the upgrade keeps the projects and their numbers") { tree in
            let before = tree.children(of: Former.Project.self, at: "/projects")
            let after = tree.children(of: Project.self, at: "/projects")
            if !before.isEmpty {
                numbers = Dictionary(
                    before.map { ("\($0.path)", $0.state.newest) }, uniquingKeysWith: { $1 })
            }
            guard crossed == nil, !after.isEmpty else { return true }
            // The crash at the upgrade may lose what no client has seen.
            crossed = after.map(\.state.lastNumber).reduce(0, +)
            return after.allSatisfy { $0.state.lastNumber <= numbers["\($0.path)", default: 0] + 1 }
        }
        simulation.run(steps: 250) { random in DeploySimulation.rootAction(&random) }
        return crossed ?? 0
    }

    @Test("today's coordinator continues the history of the one before in every storm")
    func upgrade() {
        let crossed = (0..<4 as Range<UInt64>).map(upgraded)
        #expect(crossed.reduce(0, +) >= 15, "\(crossed)")
    }
}
