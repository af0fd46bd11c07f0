import ReactorCore
import ReactorTesting
import Testing

/// Counts its calls in a child, by followers.
@Reactor
private struct Caller {
    @Child var till = Till()

    enum Action: Equatable, Sendable { case pay(Int) }
    enum Mutation: Equatable, Sendable { case paid }
    struct State: Equatable, Sendable { var count = 0 }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .pay(let amount):
            context.dispatch(.put(amount), to: $till)
            return [.paid]
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.count += 1 }
}

/// Drives ``ChildAction``.
@Suite("Followers of children under test")
struct ChildFollowerTests {
    private let log = FailureLog()

    @Test("a test receives the follower of a child, by its property or its path")
    func received() {
        let store = TestStore(Caller())
        store.send(.pay(2)) { $0.count = 1 }
        store.child(\.$till).receive(follower: .put(2), mutations: [.moved(2)]) { $0.total = 2 }
        store.send(.pay(3)) { $0.count = 2 }
        store.receive(follower: .put(3), of: Till.self, at: "/till") { $0.total = 5 }
        store.finish()
    }

    @Test("another follower than the expected one is reported with both")
    func other() throws {
        let store = TestStore(Caller(), report: log.report)
        store.send(.pay(2)) { $0.count = 1 }
        store.child(\.$till).receive(follower: .put(9)) { $0.total = 2 }
        store.finish()
        #expect(log.texts.count == 1)
        let text = try #require(log.texts.first)
        #expect(
            text.contains(
                "the follower {\"put\":9} of /till was expected, got {\"put\":2} of /till"),
            "\(text)")
    }
}
