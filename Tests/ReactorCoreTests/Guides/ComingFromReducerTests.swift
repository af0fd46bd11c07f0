import ReactorCore
import Testing

// The code of the guide for users of Reducer, line for line.

@Reactor
struct Feed {
    enum Action: Equatable {
        case reload
        case clear
    }
    enum Mutation: Equatable {
        case setItems([String])
        case setMessage(String)
    }
    struct State: Equatable {
        var items: [String] = []
        var message = ""
    }

    let load: @Sendable () async throws -> [String]

    func start(state: State) -> Mutations<Mutation> {
        Mutations(async: Effect { emit in emit(.setMessage("welcome")) })
    }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .reload:
            Mutations(async: Effect { [load] emit in emit(.setItems(try await load())) })
        case .clear: [.setItems([])]
        }
    }

    func error(_ error: any Error, action: Action?, state: State) -> Mutations<Mutation> {
        [.setMessage("\(error)")]
    }

    func shouldCancel(current: Action, upcoming: Action) -> Bool { upcoming == .clear }

    func reduce(state: State, mutation: Mutation) -> State {
        switch mutation {
        case .setItems(let items): State(items: items, message: state.message)
        case .setMessage(let message): State(items: state.items, message: message)
        }
    }
}

private struct Offline: Error {}

@Suite("guide: coming from Reducer")
struct ComingFromReducerTests {
    @Test("F48: shouldCancel ends the effects of an earlier action")
    func page() {
        let load: @Sendable () async throws -> [String] = { ["one"] }
        let bench = StoreBench(Feed(load: load))
        bench.settle()
        #expect(bench.state.message == "welcome")
        bench.store.send(.reload)
        bench.settle()
        #expect(bench.state.items == ["one"])
        bench.store.send(.reload)
        bench.store.send(.clear)
        bench.settle()
        #expect(bench.state.items == [])
    }

    @Test("F19: an error of load reaches the error hook")
    func failure() {
        let bench = StoreBench(Feed(load: { throw Offline() }))
        bench.settle()
        bench.store.send(.reload)
        bench.settle()
        #expect(bench.state == Feed.State(items: [], message: "Offline()"))
    }

    @Test("the other lines of the guide behave as it says")
    func lines() {
        let load: @Sendable () async throws -> [String] = { ["one"] }
        let store = Store(Feed(load: load))
        store.send(.reload)
        store.send(.clear)  // ends the effects of the first, for shouldCancel says so
        #expect(store.state.items == [])
        // The start is a transaction too.
        #expect(store.sequence == 3)
    }
}
