import ReactorCore
import ReactorServer
import ReactorWire
import Testing

/// A reactor that says when its functions run.
private struct Witness: Reactor {
    @WireCodable
    enum Action: Sendable { case act }

    @WireCodable
    struct State: Sendable, Equatable { var count = 0 }

    var initialState = State()
    var onMutate: () -> Void = {}
    var onReduce: () -> Void = {}

    func mutate(action: Action) throws(Rejection) -> Mutations<Action> {
        onMutate()
        return [action]
    }

    func reduce(state: inout State, mutation: Action) {
        onReduce()
        state.count += 1
    }
}

struct DurabilityOrderTests {
    @Test("R98: an action is decided and reduced before its batch goes to the journal")
    func reduceFirst() throws {
        var batches: () -> Int = { -1 }
        var seen: [String] = []
        let witness = Witness(
            onMutate: { seen.append("mutate, \(batches()) batches") },
            onReduce: { seen.append("reduce, \(batches()) batches") })
        let harness = ServerHarness(Tree(witness, epoch: 7))
        batches = { [unowned harness] in harness.batches.count }
        let client = harness.client()
        client.open("/")
        client.dispatch(Witness.Action.act)
        client.dispatch(Witness.Action.act)
        // a reduce that trapped here would leave nothing behind that could trap again at replay
        harness.turn()
        #expect(
            seen == [
                "mutate, 0 batches", "reduce, 0 batches", "mutate, 0 batches", "reduce, 0 batches",
            ])
        #expect(harness.batches.count == 1)
    }
}
