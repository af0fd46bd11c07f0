import ReactorCore
import ReactorThreads
import Testing

// The code of the guide on pipelines, line for line.

@Reactor
struct Till {
    enum Action: Equatable {
        case add(Int)
        case addTwice(Int)
        case discount
    }
    enum Mutation: Equatable { case added(Int) }
    struct State: Equatable { var total = 0 }

    let prices: AsyncStream<Action>

    func transform(action: Transform<Action>) -> Transform<Action> {
        action
            .filter { $0 != .add(0) }
            .flatMap { action in
                guard case .addTwice(let amount) = action else { return [action] }
                return [.add(amount), .add(amount)]
            }
            .merging(prices)
    }

    func transform(mutation: Transform<Mutation>) -> Transform<Mutation> {
        mutation.filter { $0 != .added(0) }
    }

    func transform(state: Transform<State>) -> Transform<State> {
        state.map { State(total: $0.total / 10 * 10) }  // shown in tens
    }

    var middleware: [Middleware<Till>] {
        [
            Middleware { getState, action, dispatch in
                if getState().total > 100, action != .discount { dispatch(.discount) }
            }
        ]
    }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let amount): [.added(amount)]
        case .addTwice: .none
        case .discount: [.added(-state.total / 10)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .added(let amount): state.total += amount
        }
    }
}

/// The till with only its stream form.
struct LateTill: Reactor {
    typealias Action = Till.Action
    typealias State = Till.State

    let initialState = State()

    func transform(action: Transform<Action>) -> Transform<Action> {
        action.stream { actions in actions.dropFirst() }
    }

    func reduce(state: inout State, mutation: Action) {
        if case .add(let amount) = mutation { state.total += amount }
    }
}

/// A daemon's program that uses a till in the open tree.
enum TillProgram {
    static let (deliveries, truck) = AsyncStream.makeStream(of: Till.Action.self)
    static let totals = Totals()

    static var log: Middleware<Till> {
        Middleware { getState, action, _ in totals.note("\(action): \(getState().total)") }
    }

    static func whenOpen(_ tree: Tree) throws {
        let till = try tree.reactor(Till.self)
        till.addMiddleware(log).keep()
        till.connect(deliveries).keep()
        let handle = till.handle
        Task { try await audit(handle) }
    }

    static func audit(_ till: ReactorHandle<Till>) async throws {
        let token = till.addMiddleware(
            Middleware { getState, _, _ in totals.note("at \(getState().total)") })
        try await till.perform(.add(50))  // its effects have ended, too
        till.inject(.added(5))  // nobody is asked
        withExtendedLifetime(token) {}
    }
}

/// Notes taken on any thread.
final class Totals: Sendable {
    private let lines = Guarded<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func note(_ line: String) { lines.withLock { $0.append(line) } }
}

@Suite("guide: pipelines", .timeLimit(.minutes(10)))
struct PipelineGuideTests {
    private let prices = AsyncStream.makeStream(of: Till.Action.self)
    private var bench: StoreBench<Till> { StoreBench(Till(prices: prices.stream)) }

    @Test(
        "F22, F24: actions are dropped and multiplied; the shown state differs from the reduced one"
    )
    func transforms() throws {
        let bench = bench
        try bench.send(.add(0))
        try bench.send(.addTwice(6))
        #expect(bench.store.sequence == 2)
        #expect(bench.state.total == 10)
        try bench.send(.add(8))
        #expect(bench.state.total == 20)
    }

    @Test("F25: a merged source enters after the earlier stages")
    func source() {
        let bench = bench
        prices.continuation.yield(.add(30))
        prices.continuation.yield(.addTwice(30))
        prices.continuation.finish()
        bench.settle()
        #expect(bench.state.total == 30)
    }

    @Test("F27: actions dispatched by middleware run as followers")
    func middleware() throws {
        let bench = bench
        try bench.send(.add(200))
        #expect(bench.state.total == 180)
        #expect(bench.store.sequence == 2)
    }

    @Test("F28, F30: a store's middleware is called until its token is released")
    func addedMiddleware() throws {
        let bench = bench
        let store = bench.store
        var lines: [String] = []
        let log = Middleware<Till> { getState, action, _ in
            lines.append("\(action): \(getState().total)")
        }
        let token = store.addMiddleware(log.filter { $0 != .discount })
        try store.dispatch(.add(200))
        #expect(lines == ["add(200): 200"])
        withExtendedLifetime(token) {}
    }

    @Test("F28, F25, F17: a served tree takes observers and inputs")
    func served() async throws {
        let inbox = Mailbox<@Sendable (Tree) -> Void>(ring: {})
        let tree = Tree(
            Till(prices: prices.stream), epoch: 1,
            environment: TreeEnvironment(post: { inbox.post($0) }))
        tree.open()
        try TillProgram.whenOpen(tree)
        TillProgram.truck.yield(.add(20))
        let till = try tree.reactor(Till.self)
        while till.state.total < 70 || tree.revision.sequence < 3 {
            for job in inbox.drain() { job(tree) }
            tree.start(tree.turn.effects)
            tree.turn.begin()
            await Task.yield()
        }
        #expect(TillProgram.totals.all.contains { $0.hasPrefix("add(50): ") })
        #expect(TillProgram.totals.all.contains { $0.hasPrefix("at ") })
    }

    @Test("F22: actions that a stream lets through are transactions of their own")
    func stream() throws {
        let bench = StoreBench(LateTill())
        try bench.store.dispatch(.add(1))
        try bench.store.dispatch(.add(2))
        #expect(bench.state.total == 0)
        #expect(bench.store.sequence == 2)
        bench.settle()
        #expect(bench.state.total == 2)
        #expect(bench.store.sequence == 3)
    }
}
