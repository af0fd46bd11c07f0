import ReactorCore
import Testing

@WireCodable
struct BeaconOptions: Equatable, Sendable {
    var colour = "red"
}

@Reactor
struct Beacon {
    enum Action: Equatable {}
    enum Mutation: Equatable { case started(Int) }

    @ReactorState
    struct State: Equatable {
        var options = BeaconOptions()
        var starts = Set<Int>()
        var pauses = [1, 2]
        var port = 8_080 as UInt16
        var label = ["de": "Feuer"]
    }

    func start(state: State) -> Mutations<Mutation> { [.started(state.starts.count)] }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .started(let count): state.starts.insert(count)
        }
    }
}

@Suite("Reactors without actions")
struct PassiveReactorTests {
    @Test("a reactor without actions starts, changes, and refuses every action with its name")
    func passive() throws {
        let bench = StoreBench(Beacon())
        bench.settle()
        #expect(bench.state.starts == [0])
        for bytes in ["tick".wireBytes(), ["tick": 3].wireBytes()] {
            #expect(
                throws: WireError(
                    .refused("Beacon.Action has no cases, so no value is possible"), at: 0)
            ) { try Beacon.Action(wireBytes: bytes) }
        }
        guard case .choice(let choice) = Beacon.Action.wireSchema else {
            Issue.record("no choice")
            return
        }
        #expect(choice.cases.isEmpty)
    }

    @Test("fields whose type follows from their value survive a round trip")
    func inferred() throws {
        var state = Beacon.State()
        state.options.colour = "blue"
        state.starts = [3]
        state.port = 9
        let read = try Beacon.State(wireBytes: state.wireBytes())
        #expect(read == state)
        #expect(try Beacon.State(wireBytes: [0xa0]) == Beacon.State())
    }
}
