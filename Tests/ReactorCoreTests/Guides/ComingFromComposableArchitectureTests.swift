import ReactorCore
import Testing

// The code of the guide for users of the Composable Architecture, line for line.

@Reactor
struct NumberFact {
    enum Action: Equatable {
        case increment
        case ask
        case stop
    }
    enum Mutation: Equatable {
        case counted(Int)
        case asked
        case answered(String)
        case stopped
    }
    struct State: Equatable {
        var count = 0
        var isAsking = false
        var fact: String?
    }

    let fact: @Sendable (Int) async throws -> String

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .increment: return [.counted(state.count + 1)]
        case .ask:
            if state.isAsking { throw Rejection("busy", "wait for the answer, or stop") }
            let ask = Effect<Mutation>(cancelID: "fact") { [fact] emit in
                emit(.answered(try await fact(state.count)))
            }
            return Mutations(sync: [.asked], async: ask)
        case .stop: return Mutations(.stopped).cancelling("fact")
        }
    }

    func error(_ error: any Error, action: Action?, state: State) -> Mutations<Mutation> {
        [.answered("\(error)")]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .counted(let count): state.count = count
        case .asked: state.isAsking = true
        case .answered(let text):
            state.isAsking = false
            state.fact = text
        case .stopped: state.isAsking = false
        }
    }
}

@Reactor
struct FactList {
    @Children var facts: (WireKey) -> NumberFact

    enum Action: Equatable {
        case add(WireKey)
        case remove(WireKey)
    }
    enum Mutation: Equatable { case answered(WireKey) }
    struct State: Equatable { var answered: [WireKey] = [] }

    init(fact: @escaping @Sendable (Int) async throws -> String) {
        _facts = Children(wrappedValue: { _ in NumberFact(fact: fact) })
    }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let key): .none.creating($facts, key)
        case .remove(let key): .none.removing($facts, key)
        }
    }

    @Reacts(to: \FactList.$facts)
    func changed(_ mutation: NumberFact.Mutation, key: WireKey) -> Mutations<Mutation> {
        if case .answered = mutation { [.answered(key)] } else { .none }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .answered(let key): state.answered.append(key)
        }
    }
}

@Suite("guide: coming from the Composable Architecture")
struct ComingFromComposableArchitectureTests {
    private let fact: @Sendable (Int) async throws -> String = { "\($0) is a number" }

    @Test("an effect answers with a mutation; a second question is refused while it runs")
    func effect() throws {
        let bench = StoreBench(NumberFact(fact: fact))
        try bench.store.dispatch(.increment)
        try bench.store.dispatch(.ask)
        #expect(bench.state.isAsking)
        #expect(throws: Rejection("busy", "wait for the answer, or stop")) {
            try bench.store.dispatch(.ask)
        }
        bench.settle()
        #expect(bench.state == NumberFact.State(count: 1, fact: "1 is a number"))
    }

    @Test("an effect is cancelled by its name")
    func cancelled() throws {
        let bench = StoreBench(NumberFact(fact: fact))
        try bench.store.dispatch(.ask)
        try bench.store.dispatch(.stop)
        bench.settle()
        #expect(bench.state == NumberFact.State())
    }

    @Test("the parent reacts to one of its children")
    func children() throws {
        let bench = StoreBench(FactList(fact: fact))
        try bench.send(.add("one"), .add("two"))
        bench.send(NumberFact.Action.ask, to: "/facts/two")
        #expect(bench.state.answered == ["two"])
        try bench.send(.remove("two"))
        bench.send(NumberFact.Action.ask, to: "/facts/one")
        #expect(bench.state.answered == ["two", "one"])
    }
}
