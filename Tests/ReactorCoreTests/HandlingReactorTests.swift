import Testing

@testable import ReactorCore

/// Counts in the manner of those who write the state where they are.
struct HandCounter: HandlingReactor {
    @WireCodable
    enum Action: Equatable, Sendable {
        case set(Int)
        case countTo(Int)
        case refuse
    }

    @WireCodable
    struct State: Equatable, Sendable {
        var count = 0
        var isCounting = false
    }

    var initialState = State()

    func handle(_ action: Action, state: inout State) throws(Rejection) {
        switch action {
        case .set(let count): state.count = count
        case .countTo: state.isCounting = true
        case .refuse:
            state.count = -1
            throw Rejection("no", "no")
        }
    }

    func handler(for action: Action) -> AsyncHandler<State>? {
        guard case .countTo(let end) = action else { return nil }
        return { write in
            for _ in 0..<end {
                try await write.clock.sleep(for: .seconds(1))
                write { $0.count += 1 }
            }
            write { $0.isCounting = false }
        }
    }
}

@Suite("HandlingReactor")
struct HandlingReactorTests {
    private let bench = StoreBench(HandCounter())

    @Test("F16: a handler without a reduce stage writes at once, or not at all")
    func sync() throws {
        try bench.send(.set(3))
        #expect(throws: Rejection.self) { try bench.send(.refuse) }
        #expect(bench.state.count == 3)
    }

    @Test("F16: an asynchronous handler's writes are transactions that lose nobody else's")
    func async() throws {
        try bench.send(.countTo(2))
        #expect(bench.state.isCounting)
        bench.advance(by: .milliseconds(1_500))
        try bench.send(.set(100))
        bench.advance(by: .seconds(1))
        #expect(bench.state == HandCounter.State(count: 101, isCounting: false))
    }

    @Test("F16: what a handler writes reaches a replica without the handler")
    func replica() throws {
        let tree = Tree(HandCounter(), epoch: 1)
        tree.root.isReplicated = true
        try tree.send(HandCounter.Action.set(9))
        #expect(try tree.json() == #"{"count":9,"isCounting":false}"#)
        #expect(tree.deltas == ["0@1"])
    }
}
