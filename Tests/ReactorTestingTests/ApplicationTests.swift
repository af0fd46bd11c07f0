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

    /// Simulates clients who open two orders in one transaction, which the workshop counts.
    private func pairs(seed: UInt64, atMost ordersMax: Int) -> [String] {
        let simulation = Simulation(seed: seed, clients: 3, report: log.report) { Workshop() }
        simulation.restartsMax = 0
        simulation.traffic(ofBatches: "pairs", percent: 50) { random, _, batch in
            batch.send(Workshop.Action.open, to: "/")
            batch.send(Workshop.Action.open, to: ReactorPath(Workshop.self))
            if random.chance(40) { batch.send(Workshop.Action.expire(0), to: "/") }
        }
        simulation.demand(sentAtLeast: 20, appliedAtLeast: 5, to: "pairs")
        simulation.invariant(ofTree: "orders come in pairs") { tree in
            guard let last = tree.state(of: Workshop.self)?.last else { return false }
            return last % 2 == 0 && last <= ordersMax
        }
        return simulation.run(steps: 60) { _ in nil }
    }

    @Test("the actions of a batch are applied together, or none is, and the batches are counted")
    func batches() throws {
        for seed in 0..<4 as Range<UInt64> { #expect(pairs(seed: seed, atMost: .max) == []) }
        #expect(log.texts == [])
        #expect(pairs(seed: 0, atMost: 4) != [])
        let text = try #require(log.texts.first)
        #expect(
            text.contains("sends one transaction of open to /, open to /: applied as"), "\(text)")
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
        #expect(text.contains("sends open to /: applied as"))
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

    /// Runs a simulation that upgrades the workshop; returns the next version's states after its
    /// first and its last transaction.
    private func upgraded(seed: UInt64) -> [NextVersion.Workshop.State] {
        let simulation = Simulation(seed: seed, clients: 4, report: log.report) { Workshop() }
        simulation.upgrade { NextVersion.Workshop() }
        simulation.restartsMax = 0
        simulation.traffic(toChildrenOf: "/orders", of: Order.self, percent: 50) { _, _, _ in
            .work(limit: 50)
        }
        var states: [NextVersion.Workshop.State] = []
        simulation.invariant(ofTree: "the orders are the children, in both versions") { tree in
            let before = tree.state(of: Workshop.self)
            let after = tree.state(of: NextVersion.Workshop.self)
            if let after { states = [states.first ?? after, after] }
            let keys = tree.children(of: Order.self, at: "/orders").compactMap { Int($0.key.text) }
            return (before?.numbers ?? after?.open)?.sorted() == keys.sorted()
        }
        _ = simulation.run(steps: 80) { _ in .open }
        return states
    }

    @Test("the next version continues the history: a renamed field, case and plan, and a new field")
    func upgrade() {
        var crossing = 0
        for seed in 1...8 as ClosedRange<UInt64> {
            let states = upgraded(seed: seed)
            #expect(states.count == 2 && states.allSatisfy { $0.discount == 10 }, "seed \(seed)")
            let first = NextVersion.Workshop.firstNumber
            crossing += states.first?.open.count { $0 < first } ?? 0
            // The plans of the first version have cancelled its orders, and only those.
            #expect(states.last?.open.isEmpty == false, "seed \(seed)")
            #expect(states.last?.open.allSatisfy { $0 >= first } == true, "seed \(seed)")
        }
        #expect(crossing >= 10, "orders of the first version are open in the next one")
        #expect(log.texts == [])
    }

    @Test("a version that cannot read the history is found")
    func wrongUpgrade() throws {
        let simulation = Simulation(seed: 1, report: log.report) { Workshop() }
        simulation.upgrade { Counter() }
        simulation.run(steps: 30) { _ in .open }
        #expect(try #require(log.texts.first).contains("nothing can be recovered"))
    }
}
