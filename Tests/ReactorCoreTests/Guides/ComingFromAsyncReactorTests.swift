import ReactorCore
import Testing

// The code of the guide for users of AsyncReactor, line for line.

@Reactor
struct Account: HandlingReactor {
    enum Action: Equatable {
        case rename(String)
        case load
    }
    struct State: Equatable {
        var name = ""
        var isLoading = false
    }

    let fetch: @Sendable () async throws -> String

    func handle(_ action: Action, state: inout State) throws(Rejection) {
        switch action {
        case .rename(let name): state.name = name
        case .load: state.isLoading = true
        }
    }

    func handler(for action: Action) -> AsyncHandler<State>? {
        guard action == .load else { return nil }
        return { [fetch] write in
            let name = try await fetch()
            write { state in
                state.name = name
                state.isLoading = false
            }
        }
    }
}

@Suite("guide: coming from AsyncReactor")
struct ComingFromAsyncReactorTests {
    @Test("F15, F16, F47: a handler writes immediately and later, and perform waits for it")
    func page() async throws {
        let fetch: @Sendable () async throws -> String = { "Ada" }
        let store = Store(Account(fetch: fetch))
        store.send(.rename("Ann"))  // applied when it returns
        #expect(store.state.name == "Ann")
        try await store.perform(.load)  // returns when its handler has ended
        #expect(store.state == Account.State(name: "Ada", isLoading: false))
    }
}
