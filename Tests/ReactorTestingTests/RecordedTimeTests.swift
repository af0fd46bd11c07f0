import ReactorCore
import ReactorTesting
import Testing

/// A pad whose presses its parent notes.
@Reactor
private struct Pad {
    enum Action: Equatable { case press }
    struct State: Equatable { var presses = 0 }

    func reduce(state: inout State, mutation: Action) { state.presses += 1 }
}

/// A log of times and draws.
@Reactor
private struct Log {
    @Child var pad = Pad()

    enum Action: Equatable { case note }
    enum Mutation: Equatable {
        case noted(WallTime, Int)
        case pressed(WallTime)
    }
    struct State: Equatable {
        var notes: [WallTime] = []
        var draws: [Int] = []
        var presses: [WallTime] = []
    }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        var random = context.random
        return [.noted(context.now, Int.random(in: 0..<1_000_000, using: &random))]
    }

    @Reacts(to: \Log.$pad)
    func changed(_ mutation: Pad.Action, context: ReactorContext<Self>) -> Mutations<Mutation> {
        [.pressed(context.now)]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .noted(let time, let draw):
            state.notes.append(time)
            state.draws.append(draw)
        case .pressed(let time): state.presses.append(time)
        }
    }
}

@Suite("The time and the random numbers of decisions in tests")
struct RecordedTimeTests {
    @Test("a decision and a reaction have the time of the test's clock, also after a restart")
    func clock() throws {
        let daemon = TestDaemon(Log())
        let client = daemon.connect()
        for _ in 0..<2 {
            _ = try client.dispatch(Log.Action.note)
            _ = try client.dispatch(Pad.Action.press, to: "/pad")
            daemon.advance(by: .seconds(90))
        }
        try daemon.restart()
        let log = try #require(daemon.state(of: Log.self))
        #expect(log.notes.count == 2 && log.notes == log.presses)
        #expect(log.notes[1].milliseconds - log.notes[0].milliseconds == 90_000)
    }

    @Test("equal seeds of a simulation lead to equal times and random numbers")
    func seeds() {
        func history(_ seed: UInt64) -> [Log.State] {
            var states: [Log.State] = []
            let simulation = Simulation(seed: seed, clients: 2) { Log() }
            simulation.traffic(to: "/pad", of: Pad.self, percent: 30) { _ in .press }
            simulation.invariant(ofTree: "the states are collected") { tree in
                if let state = tree.state(of: Log.self) { states.append(state) }
                return true
            }
            simulation.run(steps: 60) { _ in .note }
            return states
        }
        let first = history(1)
        #expect(first.last?.draws.isEmpty == false && first.last?.presses.isEmpty == false)
        #expect(first == history(1))
        #expect(first.last?.draws.first != history(2).last?.draws.first)
    }
}
