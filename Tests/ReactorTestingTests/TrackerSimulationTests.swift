import ReactorCore
import ReactorTesting
import Testing
import TrackerExample

private typealias Issue = TrackerExample.Issue

/// A tracker with a wrong rule: its list does not show that an issue was opened again.
@Reactor
private struct ForgetfulTracker {
    @Children var issues = { (_: WireKey) in TrackerExample.Issue() }

    enum Action: Equatable, Sendable { case open(title: String) }

    enum Mutation: Equatable, Sendable {
        case opened
        case closed(Int)
    }

    struct State: Equatable, Sendable {
        var last = 0
        var closed: [Int] = []
    }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        let key = WireKey("\(state.last + 1)")
        switch action {
        case .open(let title):
            return Mutations(.opened).creating($issues, key).also($issues, key, .titled(title))
        }
    }

    func react(to change: ChildChange, state: State) -> Mutations<Mutation> {
        guard let (key, mutation) = change.mutation(of: $issues), let number = Int(key.text),
            mutation == .closed
        else { return .none }
        return [.closed(number)]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .opened: state.last += 1
        case .closed(let number): state.closed.append(number)
        }
    }
}

/// The code of the guide "Testing a whole application" compiles and does what the guide says.
@Suite("A simulation of the example tracker")
struct TrackerSimulationTests {
    @Test("the tracker passes every storm", arguments: 0..<20 as Range<UInt64>)
    func tracker(seed: UInt64) {
        let simulation = Simulation(seed: seed, clients: 4) { Tracker() }
        simulation.traffic(toChildrenOf: "/issues", of: Issue.self, keys: Int.self, percent: 60) {
            random, number, issue in
            if random.chance(30) { return .comment("seen by \(number)") }
            return issue.isOpen ? .close : .reopen
        }
        simulation.traffic(ofBatches: "close all", percent: 5) { _, client, batch in
            for issue in client.children(of: Issue.self, at: "/issues") where issue.state.isOpen {
                batch.send(Issue.Action.close, to: "\(issue.path)")
            }
        }
        simulation.demand(sentAtLeast: 20, appliedAtLeast: 10, to: "/issues")
        simulation.restartsMax = 1
        simulation.recoveriesMax = 2
        simulation.deathsMax = 2
        simulation.pauseMax = .milliseconds(20)
        simulation.invariant(ofTree: "the list shows which issues are open") { tree in
            let lines = tree.state(of: Tracker.self)?.lines ?? [:]
            return tree.children(of: Issue.self, at: "/issues").allSatisfy { issue in
                lines[issue.key() ?? 0]?.isOpen == issue.state.isOpen
            }
        }
        simulation.invariant(ofClients: "a client sees the issues that it opened") { client in
            guard let shown = client.state(of: Tracker.self) else { return true }
            return client.outcomes(of: Tracker.self).allSatisfy { sent in
                guard client.shows(sent), let number = sent.reply?.number else { return true }
                return shown.lines[number] != nil
            }
        }
        simulation.run(steps: 100) { random in
            random.chance(20)
                ? .find("log") : .open(title: "Login \(Int.random(in: 0...9, using: &random))")
        }
    }

    @Test("a tracker with a wrong rule fails, and three steps show it")
    func forgetful() throws {
        let log = FailureLog()
        let simulation = Simulation(seed: 1, clients: 4, report: log.report) { ForgetfulTracker() }
        simulation.traffic(toChildrenOf: "/issues", of: Issue.self, percent: 60) { _, _, issue in
            issue.isOpen ? .close : .reopen
        }
        simulation.invariant(ofTree: "the list shows which issues are open") { tree in
            let closed = tree.state(of: ForgetfulTracker.self)?.closed ?? []
            return tree.children(of: Issue.self, at: "/issues").allSatisfy { issue in
                closed.contains(issue.key() ?? 0) != issue.state.isOpen
            }
        }
        #expect(simulation.run(steps: 100) { _ in .open(title: "a crash") } != [])
        let text = try #require(log.texts.first)
        #expect(text.contains("the shortest failing run that was found has 3 of"))
        #expect(text.contains("sends reopen to /issues/"))
    }
}
