import ReactorCore
import Testing

// The code of the guide for users of ReactorKit, line for line.

@Reactor
struct Repositories {
    enum Action: Equatable {
        case query(String)
        case refresh
    }
    enum Mutation: Equatable {
        case setQuery(String)
        case setNames([String])
    }
    struct State: Equatable {
        var query = ""
        var names: [String] = []
    }

    let search: @Sendable (String) async throws -> [String]

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        let query = if case .query(let text) = action { text } else { state.query }
        let names = Effect<Mutation> { [search] emit in
            emit(.setNames(try await search(query)))
        }
        return Mutations(
            sync: [.setQuery(query)],
            async: names.until { (action: Action) in action != .refresh })
    }

    func reduce(state: State, mutation: Mutation) -> State {
        var state = state
        switch mutation {
        case .setQuery(let query): state.query = query
        case .setNames(let names): state.names = names
        }
        return state
    }
}

@Suite("guide: coming from ReactorKit")
struct ComingFromReactorKitTests {
    private let search: @Sendable (String) async throws -> [String] = { ["\($0)-kit"] }

    @Test("a query returns results; an observer of a part receives that part")
    func page() async throws {
        var shown: [[String]] = []
        let store = Store(Repositories(search: search))
        let token = store.scoped(to: \.names).observe { names in shown.append(names) }
        try await store.perform(.query("swift"))
        #expect(shown == [[], ["swift-kit"]])
        withExtendedLifetime(token) {}
    }

    @Test("F51: a new query ends the previous one, a refresh does not")
    func until() throws {
        let bench = StoreBench(Repositories(search: search))
        try bench.store.dispatch(.query("a"))
        try bench.store.dispatch(.query("b"))
        try bench.store.dispatch(.refresh)
        bench.settle()
        #expect(bench.state == Repositories.State(query: "b", names: ["b-kit"]))
        #expect(bench.store.sequence == 5)
    }
}
