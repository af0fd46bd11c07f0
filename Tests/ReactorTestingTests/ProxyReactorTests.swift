import ReactorCore
import ReactorTesting
import Testing

@Suite("Reactors made of closures")
struct ProxyReactorTests {
    typealias Proxy = ProxyReactor<Search.Action, Search.Mutation, Search.State>

    @Test("F80: a proxy without closures does nothing, and keeps the state")
    func empty() {
        let store = TestStore(Proxy(initialState: Search.State(text: "as is")))
        store.send(.type("a"), mutations: [])
        store.send(.tick)
        #expect(store.state == Search.State(text: "as is"))
        store.finish()
    }

    @Test("F80: a proxy uses its closures: mutate, reduce, start, error, shouldCancel")
    func closures() {
        let store = TestStore(
            Proxy(
                initialState: Search.State(),
                mutate: { (action, _) throws(Rejection) in
                    switch action {
                    case .explode:
                        return Mutations(async: Effect { _ in throw Rejection("boom", "") })
                    case .tick: return Mutations(async: .after(.seconds(1), .ticked))
                    case .stop: throw Rejection("never", "it goes on")
                    default: return Mutations(.typed("\(action)"))
                    }
                },
                reduce: { state, mutation in state.log.append("\(mutation)") },
                start: { _ in [.typed("begun")] },
                error: { error, action, _ in
                    [.logged("\(error) of \(action.map { "\($0)" } ?? "nothing")")]
                },
                shouldCancel: { current, upcoming in current == .tick && upcoming == .submit }))
        store.receive(.typed("begun")) { $0.log = ["typed(\"begun\")"] }
        store.send(.open("x")) { $0.log.append("typed(\"open(\\\"x\\\")\")") }
        store.sendRejected(.stop, "never")
        store.send(.explode)
        store.receive(problem: "boom")
        store.receive(.logged("boom:  of explode")) {
            $0.log.append("logged(\"boom:  of explode\")")
        }
        store.send(.tick)
        store.send(.submit) { $0.log.append("typed(\"submit\")") }
        store.advance(by: .seconds(2))
        store.finish()
    }

    @Test("F80: a proxy uses the methods that a subclass overrides, and no others")
    func subclass() {
        final class Loud: ProxyBehavior<Search.Action, Search.Mutation, Search.State> {
            override func mutate(
                action: Search.Action, state: Search.State
            ) throws(Rejection) -> Mutations<Search.Mutation> {
                if action == .stop { throw Rejection("never", "it goes on") }
                return [.typed("heard")]
            }

            override func reduce(state: inout Search.State, mutation: Search.Mutation) {
                if case .typed(let text) = mutation { state.text = text.uppercased() }
            }
        }
        let store = TestStore(ProxyReactor(Loud(initialState: Search.State())))
        store.send(.tick) { $0.text = "HEARD" }
        store.sendRejected(.stop, "never")
        store.finish()
    }

    @Test("F80: a proxy can be served by a daemon, and restarted")
    func served() throws {
        let daemon = TestDaemon(
            ProxyReactor<Counter.Action, Counter.Mutation, Counter.State>(
                initialState: Counter.State(count: 41),
                mutate: { _, _ in [.added(1)] }, reduce: { state, _ in state.count += 1 }))
        let client = daemon.connect()
        _ = try client.dispatch(Counter.Action.ask)
        #expect(try client.get()?["count"]?.intValue == 42)
    }
}
