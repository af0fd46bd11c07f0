import ReactorThreads
import Testing

@testable import ReactorCore

/// Adds numbers; each stage of its pipeline is given at its creation.
struct Adder: Reactor {
    @WireCodable
    enum Action: Equatable, Sendable {
        case add(Int)
        case addLater(Int)
        case refuse
    }

    @WireCodable
    enum Mutation: Equatable, Sendable { case added(Int) }

    @WireCodable
    struct State: Equatable, Sendable {
        var sum = 0
        var seen: [Int] = []
    }

    var initialState = State()
    var actions: (Transform<Action>) -> Transform<Action> = { $0 }
    var mutations: (Transform<Mutation>) -> Transform<Mutation> = { $0 }
    var states: (Transform<State>) -> Transform<State> = { $0 }
    var middleware: [Middleware<Adder>] = []
    var onError: (String) -> Void = { _ in }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let number): return [.added(number)]
        case .addLater(let number):
            return Mutations(async: Effect { emit in emit(.added(number)) })
        case .refuse: throw Rejection("refused", "no")
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .added(let number):
            state.sum += number
            state.seen.append(number)
        }
    }

    func error(_ error: any Error, action: Action?, state: State) -> Mutations<Mutation> {
        onError("\(error)")
        return .none
    }

    func transform(action: Transform<Action>) -> Transform<Action> { actions(action) }
    func transform(mutation: Transform<Mutation>) -> Transform<Mutation> { mutations(mutation) }
    func transform(state: Transform<State>) -> Transform<State> { states(state) }
}

/// Yields numbers, then ends or fails.
struct Numbers: AsyncSequence, Sendable {
    struct Broken: Error {}
    var values: [Adder.Action]
    var fails = false

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<Adder.Action>
        var fails: Bool

        mutating func next() async throws -> Adder.Action? {
            if let next = rest.popFirst() { return next }
            if fails { throw Broken() }
            return nil
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(rest: values[...], fails: fails)
    }
}

/// Yields given elements, then ends.
struct Yielding<Element: Sendable>: AsyncSequence, Sendable {
    let values: [Element]

    init(_ values: [Element]) { self.values = values }

    struct AsyncIterator: AsyncIteratorProtocol {
        var rest: ArraySlice<Element>

        mutating func next() async -> Element? { rest.popFirst() }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(rest: values[...]) }
}

/// Drives ``TransformRun``.
@Suite("Transform")
struct TransformTests {
    @Test("F22: a transform of actions may drop, change and multiply them, in one transaction")
    func actions() throws {
        let bench = StoreBench(
            Adder(actions: { actions in
                actions
                    .filter { $0 != .add(0) }
                    .flatMap { $0 == .add(2) ? [.add(1), .add(1)] : [$0] }
                    .map { $0 == .add(7) ? .add(70) : $0 }
            }))
        try bench.send(.add(0))
        #expect(bench.state.seen == [])
        try bench.send(.add(2))
        #expect(bench.store.sequence == 2)
        try bench.send(.add(7))
        #expect(bench.state.seen == [1, 1, 70])
    }

    @Test("F22: the actions that one action became are applied all or not at all")
    func allOrNone() throws {
        let bench = StoreBench(
            Adder(actions: { $0.flatMap { [$0, $0 == .add(5) ? .refuse : .add(1)] } }))
        #expect(throws: Rejection("refused", "no")) { try bench.send(.add(5)) }
        #expect(bench.state == Adder.State())
        #expect(bench.store.sequence == 0)
        try bench.send(.add(2))
        #expect(bench.state.seen == [2, 1])
    }

    @Test("F23: a transform of mutations sees synchronous and asynchronous ones")
    func mutations() throws {
        let bench = StoreBench(
            Adder(mutations: { mutations in
                mutations.map { mutation in
                    guard case .added(let number) = mutation else { return mutation }
                    return .added(number * 10)
                }
            }))
        try bench.send(.add(1))
        try bench.send(.addLater(2))
        #expect(bench.state.seen == [10, 20])
    }

    @Test("F24: the presented state is shown; reduce never sees it")
    func states() throws {
        let bench = StoreBench(
            Adder(states: { states in
                states.map { state in
                    var shown = state
                    shown.sum += 1_000
                    return shown
                }
            }))
        #expect(bench.state.sum == 1_000)
        var observed: [Int] = []
        let token = bench.store.observe { observed.append($0.sum) }
        try bench.send(.add(1))
        try bench.send(.add(1))
        #expect(bench.state.sum == 1_002)
        #expect(observed == [1_000, 1_001, 1_002])
        withExtendedLifetime(token) {}
    }

    @Test("F24: when the transform drops a state, the previous one stays visible")
    func droppedState() throws {
        let bench = StoreBench(Adder(states: { $0.filter { $0.sum % 2 == 0 } }))
        try bench.send(.add(2))
        try bench.send(.add(1))
        #expect(bench.state.sum == 2)
        try bench.send(.add(1))
        #expect(bench.state.sum == 4)
    }

    @Test("F25: merged sources enter as transactions of their own, after the earlier stages")
    func sources() {
        let bench = StoreBench(
            Adder(actions: { actions in
                actions.map { _ in .add(-1) }
                    .merging(Numbers(values: [.add(1), .add(2)]))
                    .map { $0 == .add(2) ? .add(20) : $0 }
            }))
        bench.settle()
        #expect(bench.state.seen == [1, 20])
        #expect(bench.store.sequence == 2)
    }

    @Test("F25: a source of mutations enters after the earlier stages, without an action")
    func mutationSources() throws {
        let bench = StoreBench(
            Adder(mutations: { mutations in
                mutations.map { _ in .added(-1) }
                    .merging(Yielding([Adder.Mutation.added(1), .added(2), .added(3)]))
                    .filter { $0 != .added(2) }
            }))
        bench.settle()
        #expect(bench.state.seen == [1, 3])
        #expect(bench.store.sequence == 2)
        try bench.send(.add(5))
        #expect(bench.state.seen == [1, 3, -1])
    }

    @Test("F25: a source of states is shown, and never passed to reduce")
    func stateSources() throws {
        var foreign = Adder.State()
        foreign.sum = 500
        var observed: [Int] = []
        let bench = StoreBench(
            Adder(states: { states in
                states.map { state in
                    var shown = state
                    shown.sum += 1_000
                    return shown
                }
                .merging(Yielding([foreign]))
            }))
        let token = bench.store.observe { observed.append($0.sum) }
        bench.settle()
        #expect(bench.state.sum == 500)
        try bench.send(.add(1))
        #expect(bench.state.sum == 1_001 && bench.state.seen == [1])
        #expect(observed == [1_000, 500, 1_001])
        withExtendedLifetime(token) {}
    }

    @Test(
        "F82: an input that fails or ends does not end anything else, and the reactor learns of it")
    func failingInput() throws {
        var errors: [String] = []
        let bench = StoreBench(
            Adder(
                actions: { $0.merging(Numbers(values: [.add(1)], fails: true)) },
                onError: { errors.append($0) }))
        bench.settle()
        #expect(errors == ["Broken()"])
        try bench.send(.add(4))
        try bench.send(.addLater(5))
        #expect(bench.state.seen == [1, 4, 5])
    }

    @Test("F22: a stream form may delay: the dispatch is accepted, and its actions come later")
    func stream() throws {
        let bench = StoreBench(
            Adder(actions: { actions in
                actions.stream { input in
                    input.map { $0 == .add(1) ? .add(100) : $0 }
                }
                .map { $0 == .add(2) ? .add(200) : $0 }
            }))
        try bench.store.dispatch(.add(1))
        #expect(bench.store.sequence == 1)
        #expect(bench.state.seen == [])
        bench.settle()
        #expect(bench.state.seen == [100])
        #expect(bench.store.sequence == 2)
        try bench.send(.add(2))
        #expect(bench.state.seen == [100, 200])
    }

    @Test("F23: mutations pass through a stream in order")
    func mutationStream() throws {
        let bench = StoreBench(Adder(mutations: { $0.stream { $0.dropFirst() } }))
        for number in 1...4 { try bench.store.dispatch(.add(number)) }
        #expect(bench.state.seen == [])
        bench.settle()
        #expect(bench.state.seen == [2, 3, 4])
    }

    @Test("F82: a stream that ends is started again with the next value")
    func endingStream() throws {
        let bench = StoreBench(Adder(actions: { $0.stream { $0.prefix(1) } }))
        for number in 1...3 { try bench.send(.add(number)) }
        #expect(bench.state.seen == [1, 2, 3])
    }

    @Test("an action without room in front of a stream is rejected as BUSY")
    func fullStream() throws {
        let bench = StoreBench(Adder(actions: { $0.stream { $0 } }))
        for number in 1...CoreLimits.streamedValuesMax { try bench.store.dispatch(.add(number)) }
        #expect(throws: Rejection.self) { try bench.store.dispatch(.add(0)) }
        bench.settle()
        #expect(bench.state.seen.count == CoreLimits.streamedValuesMax)
        try bench.send(.add(0))
        #expect(bench.state.seen.last == 0)
    }

    @Test("F24: the presented state may be delayed by a stream")
    func stateStream() throws {
        let bench = StoreBench(Adder(states: { $0.stream { $0.filter { $0.sum > 1 } } }))
        try bench.send(.add(1))
        #expect(bench.state.sum == 0)
        try bench.send(.add(1))
        #expect(bench.state.sum == 2)
    }

    @Test("a reactor with identity transforms takes the short path")
    func identity() {
        #expect(Transform<Int>().isIdentity)
        let store = Store(Adder())
        #expect(!store.node.takesLongWay)
        #expect(Store(Adder(actions: { $0.filter { _ in true } })).node.takesLongWay)
    }
}

extension TransformTests {
    @Test("F22: the sender of an action that went into a stream gets the outcome accepted")
    func accepted() throws {
        let tree = Tree(Adder(actions: { $0.stream { $0 } }), epoch: 1)
        #expect(try tree.send(Adder.Action.add(1)) == "accepted 1")
        let plain = Tree(Adder(actions: { $0.filter { _ in true } }), epoch: 1)
        #expect(try plain.send(Adder.Action.add(1)) == "applied 1")
    }
}

extension TransformTests {
    @Test("F22: actions of a refused batch never leave a stream, and the stream continues")
    func refusedBatch() throws {
        let bench = StoreBench(
            Adder(
                actions: { $0.flatMap { $0 == .add(9) ? [.add(9), .refuse] : [$0] } },
                mutations: { $0.stream { $0 } }))
        bench.settle()
        for _ in 0..<(CoreLimits.streamedValuesMax + 10) {
            #expect(throws: Rejection.self) { try bench.store.dispatch(.add(9)) }
        }
        bench.settle()
        #expect(bench.state.seen == [])
        try bench.send(.add(1))
        #expect(bench.state.seen == [1])
    }

    @Test("F22: a stream emits its initial values before any action")
    func prepended() {
        let bench = StoreBench(
            Adder(actions: { actions in
                actions.stream { input in
                    AsyncStream<Adder.Action> { continuation in
                        continuation.yield(.add(7))
                        let task = Task {
                            for await action in input { continuation.yield(action) }
                        }
                        continuation.onTermination = { _ in task.cancel() }
                    }
                }
            }))
        bench.settle()
        #expect(bench.state.seen == [7])
    }

    @Test("F42: mutations are applied on the thread that drains the store, whichever thread sends")
    func oneThread() {
        let mark = ThreadMark()
        var isInside: [Bool] = []
        let store = Store(
            Adder(mutations: { $0.handleEvents { _ in isInside.append(mark.isCurrent) } }))
        let handle = store.handle
        let thread = try? WorkThread(name: "sender") {
            for number in 1...10 { handle.send(.add(number)) }
        }
        thread?.join()
        mark.enter()
        store.drain()
        mark.leave()
        #expect(isInside == Array(repeating: true, count: 10))
    }
}
