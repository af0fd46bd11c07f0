import Testing

@testable import ReactorCore

/// A counter with handlers that write the state directly.
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

/// Searches texts; its handlers have names and deadlines.
struct HandFinder: HandlingReactor {
    @WireCodable
    enum Action: Equatable, Sendable {
        case find(String)
        case stop
        case hang
    }

    @WireCodable
    struct State: Equatable, Sendable {
        var found: [String] = []
        var failure = ""
    }

    var initialState = State()

    func handler(for action: Action) -> AsyncHandler<State>? {
        switch action {
        case .find(let text):
            { write in
                try await write.clock.sleep(for: .seconds(1))
                write { $0.found.append(text) }
            }
        case .hang: { write in try await write.clock.sleep(for: .seconds(60)) }
        case .stop: nil
        }
    }

    func handlerOptions(for action: Action) -> HandlerOptions {
        switch action {
        case .find: HandlerOptions(cancelID: "find")
        case .hang: HandlerOptions(deadline: .seconds(5))
        case .stop: HandlerOptions(cancelling: ["find"])
        }
    }

    func error(
        _ error: any Error, action: Action?, state: State
    ) -> Mutations<WrittenState<State>> {
        var failed = state
        failed.failure = "\(error)"
        return [WrittenState(failed)]
    }
}

@Suite("HandlingReactor")
struct HandlingReactorTests {
    private let bench = StoreBench(HandCounter())

    @Test("F16: a handler without a reduce stage writes immediately, or not at all")
    func sync() throws {
        try bench.send(.set(3))
        #expect(throws: Rejection.self) { try bench.send(.refuse) }
        #expect(bench.state.count == 3)
    }

    @Test("F16: an asynchronous handler's writes are transactions that overwrite no other change")
    func async() throws {
        try bench.send(.countTo(2))
        #expect(bench.state.isCounting)
        bench.advance(by: .milliseconds(1_500))
        try bench.send(.set(100))
        bench.advance(by: .seconds(1))
        #expect(bench.state == HandCounter.State(count: 101, isCounting: false))
    }

    @Test(
        "F49: the newest handler with a name ends the previous one, and an action ends it by name")
    func names() throws {
        let bench = StoreBench(HandFinder())
        try bench.send(.find("a"))
        bench.advance(by: .milliseconds(500))
        try bench.send(.find("ab"))
        bench.advance(by: .seconds(2))
        #expect(bench.state.found == ["ab"])
        try bench.send(.find("abc"))
        try bench.send(.stop)
        bench.advance(by: .seconds(2))
        #expect(bench.state == HandFinder.State(found: ["ab"]))
        #expect(bench.clock.sleeperCount == 0)
    }

    @Test("F16: a handler that exceeds its deadline is cancelled, and has failed")
    func deadline() throws {
        let bench = StoreBench(HandFinder())
        try bench.send(.hang)
        bench.advance(by: .seconds(5))
        #expect(bench.state.failure == "\(EffectExpired(deadline: .seconds(5)))")
        #expect(bench.clock.sleeperCount == 0)
    }

    @Test("F16: a replica receives a handler's writes without the handler")
    func replica() throws {
        let tree = Tree(HandCounter(), epoch: 1)
        tree.root.isReplicated = true
        try tree.send(HandCounter.Action.set(9))
        #expect(try tree.json() == #"{"count":9,"isCounting":false}"#)
        #expect(tree.deltas == ["0@1"])
    }
}
