import ReactorCore
import Testing

// The code of the guide for users of SwiftReactor, line for line.

@Reactor
final class Clicker: BaseReactor<Clicker.Action, Clicker.Mutation, Clicker.State> {
    enum Action: Equatable {
        case click
        case load
    }
    enum Mutation: Equatable {
        case add(Int)
        case loading(Bool)
    }
    struct State: Equatable {
        var count = 0
        var isLoading = false
    }

    override func mutate(action: Action) -> Mutations<Mutation> {
        switch action {
        case .click: [.add(1)]
        case .load:
            Mutations(
                sync: [.loading(true)],
                async: Effect { emit in
                    emit(.add(10))
                    emit(.loading(false))
                })
        }
    }

    override func reduce(state: State, mutation: Mutation) -> State {
        var state = state
        switch mutation {
        case .add(let number): state.count += number
        case .loading(let isLoading): state.isLoading = isLoading
        }
        return state
    }
}

@Suite("guide: coming from SwiftReactor")
struct ComingFromSwiftReactorTests {
    @Test("F7, F12: synchronous mutations come first, and each emission notifies once")
    func page() async throws {
        var shown: [Int] = []
        let store = Store(Clicker())
        let token = store.observe { state in shown.append(state.count) }
        store.send(.click)
        try await store.perform(.load)
        #expect(shown == [0, 1, 1, 11, 11])
        #expect(store.state == Clicker.State(count: 11, isLoading: false))
        withExtendedLifetime(token) {}
    }
}
