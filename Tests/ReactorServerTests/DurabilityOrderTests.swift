import ReactorCore
import ReactorServer
import ReactorWire
import Testing

/// A reactor that records when its functions run.
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
        // A `reduce` that trapped here would leave no row that could trap again at the replay.
        harness.turn()
        #expect(
            seen == [
                "mutate, 0 batches", "reduce, 0 batches", "mutate, 0 batches", "reduce, 0 batches",
            ])
        #expect(harness.batches.count == 1)
    }

    @Test("an outcome comes after its turn's mark, however many wait for a slow journal")
    func marks() throws {
        let harness = ServerHarness { $0.queueBytesMax = 400 }
        let client = harness.client()
        client.open("/visits")
        client.subscribe("/other")
        harness.turn()
        _ = client.frames()
        harness.appendsAtOnce = false
        for _ in 0..<30 {
            client.add(1)
            harness.turn()
        }
        harness.append()
        var (shown, told) = (0 as UInt64, 0)
        for frame in client.frames() {
            if frame.kind == .mark { shown = frame.number }
            guard frame.kind == .applied else { continue }
            told += 1
            let sequence = try UInt64(wireBytes: frame.body)
            #expect(shown >= sequence)
        }
        #expect(told == 30)
    }
}
