import ReactorClient
import ReactorCore
import ReactorTesting
import Testing

/// Drives ``SimulationRun``, ``TreeModel``, ``TreeRecord``, ``SimulatedMember``,
/// ``StepShortener`` and ``SimulationTrace``.
@Suite("A simulation of a whole application")
struct ApplicationTests {
    private let log = FailureLog()

    private func simulation(seed: UInt64, _ fault: Workshop.Fault? = nil) -> Simulation<Workshop> {
        let simulation = Simulation(seed: seed, clients: 4, report: log.report) {
            Workshop(fault: fault)
        }
        simulation.restartsMax = 1
        simulation.recoveriesMax = 2
        simulation.deathsMax = 2
        simulation.invariant(ofTree: "the orders are the children") { tree in
            let keys = tree.children(of: Order.self, at: "/orders").map(\.key.text)
            return tree.state(of: Workshop.self)?.numbers.map { "\($0)" }.sorted() == keys.sorted()
        }
        simulation.invariant(ofTree: "an order's counter counts its steps") { tree in
            tree.children(of: Order.self, at: "/orders").allSatisfy { order in
                tree.state(of: Counter.self, at: "\(order.path)/count")?.count == order.state.steps
            }
        }
        simulation.invariant(ofClients: "a client knows the orders that it opened") { client in
            guard let shown = client.state(of: Workshop.self) else { return true }
            return client.outcomes(of: Workshop.self).allSatisfy { sent in
                guard client.shows(sent), sent.action == .open else { return true }
                return sent.reply.map { $0 <= shown.last } ?? false
            }
        }
        simulation.traffic(toChildrenOf: "/orders", of: Order.self, percent: 50) {
            random, _, order in
            order.steps < 5 ? .work(limit: 5) : nil
        }
        simulation.demand(sentAtLeast: 20, appliedAtLeast: 10, to: "/orders")
        return simulation
    }

    private func run(_ simulation: Simulation<Workshop>) -> [String] {
        simulation.run(steps: 120) { random in
            switch Int.random(in: 0..<6, using: &random) {
            case 0: .awaitNext
            case 1, 2: .sit
            default: .open
            }
        }
    }

    @Test(
        "a sound application passes, with children, deaths, restarts, timers and late answers",
        arguments: 0..<12 as Range<UInt64>)
    func sound(seed: UInt64) {
        let simulation = simulation(seed: seed)
        #expect(run(simulation) == [])
        #expect(log.texts == [])
        #expect(simulation.counts.recoveries + simulation.counts.deaths > 0)
        #expect(simulation.counts.applied > 30)
    }

    @Test("a wrong rule between a parent and its children is found, and its report is short")
    func wrongRule() throws {
        for seed in 0..<3 as Range<UInt64> {
            #expect(run(simulation(seed: seed, .keepsExpired)) != [])
        }
        for text in log.texts {
            #expect(text.contains("\"the orders are the children\" does not hold after"))
            #expect(text.contains("reproduces the run"))
        }
        let text = try #require(log.texts.first)
        // One order is opened, and its timer fires.
        #expect(text.contains("the shortest failing run that was found has 1 of"))
        #expect(text.contains("sends {\"open\":{}} to /: applied as"))
    }

    @Test("a claim of a client that has died is found")
    func wrongOwner() throws {
        let simulation = Simulation(seed: 4, clients: 3, report: log.report) {
            Workshop(fault: .keepsDesks)
        }
        simulation.deathsMax = 3
        simulation.invariant("at most three clients sit") { $0.desks.count <= 3 }
        simulation.run(steps: 200) { _ in .sit }
        let text = try #require(log.texts.first)
        #expect(text.contains("\"at most three clients sit\" does not hold"))
        #expect(text.contains("breaks") || text.contains("dies"))
    }

    @Test("a run that exercises too little fails, and says what was sent")
    func demand() throws {
        let simulation = Simulation(seed: 1, report: log.report) { Workshop() }
        simulation.traffic(toChildrenOf: "/orders", of: Order.self, percent: 50) { _, _, _ in
            .work(limit: 5)
        }
        simulation.demand(sentAtLeast: 1, to: "/orders")
        simulation.run(steps: 30) { _ in .sit }
        let text = try #require(log.texts.first)
        #expect(text.contains("too little was exercised at /orders: 0 actions were sent, of 1"))
        #expect(!text.contains("shortest failing run"), "\(text)")
        #expect(simulation.counts.unsent > 5)
    }

    @Test("a path that names no collection is a failure with its remedy")
    func noCollection() throws {
        let simulation = Simulation(seed: 1, report: log.report) { Workshop() }
        simulation.follow(childrenOf: "/nowhere")
        simulation.run(steps: 5) { _ in .open }
        #expect(try #require(log.texts.first).contains("/nowhere names no collection"))
    }

    @Test("the next version continues the history of the first", arguments: [1, 2] as [UInt64])
    func upgrade(seed: UInt64) {
        let simulation = Simulation(seed: seed, report: log.report) { Workshop() }
        simulation.upgrade { NextVersion.Workshop() }
        simulation.restartsMax = 0
        var isUpgraded = false
        simulation.invariant(ofTree: "the orders are the children") { tree in
            guard let state = tree.state(of: NextVersion.Workshop.self) else { return true }
            isUpgraded = true
            return state.numbers.count
                == tree.children(of: Order.self, at: "/orders").count
        }
        simulation.traffic(toChildrenOf: "/orders", of: Order.self, percent: 50) { _, _, _ in
            .work(limit: 50)
        }
        #expect(simulation.run(steps: 80) { _ in .open } == [])
        #expect(isUpgraded && log.texts == [])
    }

    @Test("a version that cannot read the history is found")
    func wrongUpgrade() throws {
        let simulation = Simulation(seed: 1, report: log.report) { Workshop() }
        simulation.upgrade { Counter() }
        simulation.run(steps: 30) { _ in .open }
        #expect(try #require(log.texts.first).contains("nothing can be recovered"))
    }
}
