import ReactorCore
import ReactorTesting
import Testing

@Suite("A simulation of an author's reactor")
struct SimulationTests {
    private let log = FailureLog()

    @Test(
        "a correct reactor passes every storm, with its effects and its children",
        arguments: 0..<12 as Range<UInt64>)
    func sound(seed: UInt64) {
        let simulation = Simulation(seed: seed, clients: 4) { Shop() }
        simulation.journalDelayMax = seed % 2 == 0 ? 3_000_000 : 40_000_000
        simulation.restartsMax = 2
        simulation.follow({ Till() }, at: "/till")
        simulation.invariant("what was ordered is open or delivered") {
            $0.open >= 0 && $0.delivered >= 0
        }
        simulation.traffic(to: "/till", percent: 30) { random in
            Till.Action.put(Int.random(in: 1...9, using: &random))
        }
        simulation.run(steps: 120) { random in .order(Int.random(in: 1...9, using: &random)) }
    }

    /// Simulates a till whose clients check their mirror before they take.
    private func takeFromTill(seed: UInt64, isCareful: Bool, clients: Int) -> [String] {
        let simulation = Simulation(seed: seed, clients: clients, report: log.report) {
            Till(isCareful: isCareful)
        }
        simulation.invariant("the till is never below zero") { $0.total >= 0 }
        return simulation.run(steps: 150) { random, state in
            let amount = Int.random(in: 1...9, using: &random)
            return amount <= state.total ? .take(amount) : .put(amount)
        }
    }

    @Test("an invariant that holds for one client and breaks with two outdated mirrors is found")
    func planted() throws {
        let found = (0..<5 as Range<UInt64>).map {
            takeFromTill(seed: $0, isCareful: false, clients: 4)
        }
        #expect(found.allSatisfy { !$0.isEmpty })
        let text = try #require(log.texts.first)
        #expect(text.contains("\"the till is never below zero\" does not hold after transaction"))
        #expect(text.contains("seed 0 reproduces the run"))
        for seed in 0..<5 as Range<UInt64> {
            #expect(takeFromTill(seed: seed, isCareful: true, clients: 4) == [])
        }
    }

    @Test("the same seed reproduces the same failure, another seed a different one")
    func repeatable() {
        let first = takeFromTill(seed: 3, isCareful: false, clients: 4)
        #expect(first == takeFromTill(seed: 3, isCareful: false, clients: 4))
        #expect(first != takeFromTill(seed: 4, isCareful: false, clients: 4))
    }

    @Test("R99: a non-deterministic reduce is found and named")
    func impure() {
        let simulation = Simulation(seed: 1, report: log.report) { Impure() }
        let found = simulation.run(steps: 20) { _ in .touch }
        #expect(found.first?.contains("reduce of Impure at / is not a function") ?? false)
    }

    @Test("effects run, and the same seed gives the same run")
    func effects() {
        func run() -> (text: String, delivered: Int) {
            var delivered = 0
            let simulation = Simulation(seed: 9, report: log.report) { Shop() }
            simulation.restartsMax = 0
            simulation.invariant("nothing is ever delivered") {
                delivered = max(delivered, $0.delivered)
                return $0.delivered < 100
            }
            let found = simulation.run(steps: 200) { random in
                .order(Int.random(in: 1...9, using: &random))
            }
            return (found.joined(), delivered)
        }
        let first = run()
        #expect(first.delivered >= 100 && first.text.contains("nothing is ever delivered"))
        #expect(first == run())
    }
}
