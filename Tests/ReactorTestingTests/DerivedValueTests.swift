import ReactorClient
import ReactorCore
import ReactorTesting
import Testing

/// A job in a queue.
@Reactor
struct Errand {
    enum Action { case finish(Bool) }
    struct State: Equatable {
        var isDone = false
        var isLucky = false
    }

    func mutate(action: Action) -> Mutations<Action> { [action] }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .finish(let isLucky): state = State(isDone: true, isLucky: isLucky)
        }
    }
}

/// What became of the errands.
@WireCodable
struct ErrandStats: DerivedTotal {
    var open = 0
    var lucky = 0

    init() {}

    mutating func add(_ part: [Bool]) { count(part, 1) }

    mutating func remove(_ part: [Bool]) { count(part, -1) }

    private mutating func count(_ part: [Bool], _ change: Int) {
        if !part[0] { open += change }
        if part[1] { lucky += change }
    }
}

/// Errands whose end is left to chance.
@Reactor
struct Errands {
    @Children var errands = { (_: Int) in Errand() }
    /// Errands by what became of them.
    @Derived var stats = Derivation(ErrandStats.self, over: \Errands.$errands) {
        [$0.isDone, $0.isLucky]
    }
    @Derived var isIdle = Derivation(of: \Errands.$stats) { state, stats in
        stats.open == 0 && state.begun > 0
    }

    enum Action {
        case begin(Int)
        case end(Int)
        case forget(Int)
    }
    enum Mutation { case begun }
    struct State: Equatable { var begun = 0 }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .begin(let key):
            guard context.value(of: $stats).open < 3 else { throw Rejection("busy", "3 are open") }
            return Mutations(.begun).creating($errands, key)
        case .end(let key):
            var random = context.random
            return Mutations.none.sending(.finish(.random(using: &random)), to: $errands[key])
        case .forget(let key): return Mutations.none.removing($errands, key)
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .begun: state.begun += 1
        }
    }
}

@Suite("Derived values under test")
struct DerivedValueTests {
    private let log = FailureLog()

    @Test("a test states the change of a derived value, like that of a child")
    func stated() {
        let store = TestStore(Errands())
        store.send(.begin(1)) { $0.begun = 1 }
        store.expect(children: [1], of: \.$errands)
        store.expect(\.$stats) { $0.open = 1 }
        store.send(.end(1))
        store.expect(Errand.self, at: "/errands/1") {
            $0.isDone = true
            $0.isLucky = store.child(\.$errands, 1).state?.isLucky ?? false
        }
        store.expect(\.$stats) {
            $0.open = 0
            $0.lucky = store.child(\.$errands, 1).state?.isLucky == true ? 1 : 0
        }
        store.expect(\.$isIdle) { $0 = true }
        #expect(store.value(of: \.$stats).open == 0)
        store.finish()
    }

    @Test(
        "a change of a derived value that the test does not state, or states wrongly, is reported")
    func unstated() {
        let store = TestStore(Errands(), report: log.report)
        store.send(.begin(1)) { $0.begun = 1 }
        store.expect(children: [1], of: \.$errands)
        store.expect(\.$stats) { $0.open = 2 }
        #expect(log.texts.count == 1)
        #expect(log.texts[0].contains("led to another derived value /stats"))
        store.send(.begin(2)) { $0.begun = 2 }
        store.expect(children: [1, 2], of: \.$errands)
        store.finish()
        #expect(log.texts.count == 2)
        #expect(log.texts[1].contains("/stats: {\"open\":2,\"lucky\":0}"))
    }

    @Test("equal seeds of a test's store lead to equal random decisions")
    func seeds() {
        let runs = [1, 1, 2, 3, 4, 5].map { (seed: UInt64) -> [Bool] in
            let store = TestStore(Errands(), seed: seed, report: log.report)
            return (0..<20).map { key in
                store.send(.begin(key))
                store.send(.end(key))
                return store.child(\.$errands, key).state?.isLucky ?? false
            }
        }
        #expect(runs[0] == runs[1] && Set(runs).count > 1)
    }

    @Test("a client mirrors a value, which a restart of the daemon computes again")
    func restart() throws {
        let daemon = TestDaemon(Errands())
        let client = daemon.connect()
        let stats = try client.mirror(derived: ErrandStats.self, at: "/stats")
        let root = try client.mirror(Errands.self)
        #expect(stats.open == 0)
        for key in 1...3 { _ = try client.dispatch(.begin(key), to: root) }
        _ = try client.dispatch(.end(2), to: root)
        #expect(stats.open == 2 && stats.state == daemon.value(of: ErrandStats.self, at: "/stats"))
        let before = stats.state
        try daemon.restart()
        #expect(daemon.value(of: ErrandStats.self, at: "/stats") == before)
        daemon.advance(by: .seconds(5))
        #expect(stats.state == before && stats.phase == .live)
        _ = try client.dispatch(.forget(1), to: root)
        #expect(stats.open == 1)
        #expect(daemon.value(of: Bool.self, at: "/isIdle") == false)
    }

    @Test(
        "through crashes of daemon and connections, mirrors show the value of their revision",
        arguments: 0..<12 as Range<UInt64>)
    func storm(seed: UInt64) {
        let simulation = Simulation(seed: seed, clients: 3) { Errands() }
        simulation.recoveriesMax = 3
        simulation.follow(derived: ErrandStats(), at: "/stats")
        simulation.invariant(ofTree: "the value is that of the errands") { tree in
            let open = tree.children(of: Errand.self, at: "/errands").count { !$0.state.isDone }
            return tree.value(of: ErrandStats.self, at: "/stats")?.open == open
        }
        simulation.run(steps: 150) { random in
            let key = Int.random(in: 0..<6, using: &random)
            return switch Int.random(in: 0..<4, using: &random) {
            case 0, 1: .begin(key)
            case 2: .end(key)
            default: .forget(key)
            }
        }
    }
}
