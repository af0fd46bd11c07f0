import ReactorCore
import Testing

@Suite("Reactor")
struct ReactorTests {
    @Test("F1: a reactor decides only actions of its own type")
    func typedActions() throws {
        let tree = Tree(Tally(), epoch: 1)
        #expect(try tree.send(Tally.Action.add(5)) == "applied 1")
        #expect(try tree.send(WireValue(json: #"{"add":2}"#)) == "applied 2")
        #expect(try tree.send(WireValue(json: #"{"multiply":2}"#)) == "not an action")
        #expect(try tree.send(WireValue(json: #"{"add":"2"}"#)) == "not an action")
        #expect(try tree.state(of: Tally.self).sum == 7)
    }

    @Test("F2: one action becomes several mutations of another type, in order")
    func mutationsDiffer() throws {
        let tree = Tree(Tally(), epoch: 1)
        #expect(try tree.send(Tally.Action.spread([3, 1, 2])) == "applied 1")
        #expect(try tree.state(of: Tally.self) == Tally.State(sum: 6, history: [3, 1, 2]))
    }

    @Test("F3: without a mutation type, a reactor's action is its mutation")
    func passThrough() throws {
        let tree = Tree(Echo(), epoch: 1)
        #expect(try tree.send(Echo.Action.say("hello")) == "applied 1")
        #expect(try tree.state(of: Echo.self).heard == "hello")
        #expect(Echo.Mutation.self == Echo.Action.self)
        let decided = try Echo().mutate(action: .say("again"))
        #expect(decided.count == 1)
    }

    @Test("F4: a state that was read does not change when the reactor's does")
    func stateIsAValue() throws {
        let tree = Tree(Tally(), epoch: 1)
        let before = try tree.state(of: Tally.self)
        try tree.send(Tally.Action.add(1))
        #expect(before == Tally.State())
        #expect(try tree.state(of: Tally.self) != before)
    }

    @Test("F4: a reactor's state is read-only from outside")
    func readOnly() {
        // A key path is writable exactly if an assignment compiles.
        let state: AnyKeyPath = \Store<Tally>.state
        #expect(!(state is WritableKeyPath<Store<Tally>, Tally.State>))
        let nodeState: AnyKeyPath = \Node<Tally>.state
        #expect(!(nodeState is WritableKeyPath<Node<Tally>, Tally.State>))
        let ownField: AnyKeyPath = \Tally.State.sum
        #expect(ownField is WritableKeyPath<Tally.State, Int>)
    }

    @Test("F5: reducing the same mutations again gives the same state")
    func pureReduce() throws {
        let mutations: [Tally.Mutation] = [.added(2), .added(-5), .padded("x")]
        let states = (0..<2).map { _ in
            var state = Tally.State()
            for mutation in mutations { Tally().reduce(state: &state, mutation: mutation) }
            return state
        }
        #expect(states[0] == states[1])
        #expect(states[0] == Tally.State(sum: -2, history: [2, -5]))
    }

    @Test("F8: omitted members have defaults")
    func defaults() throws {
        let reactor = Echo()
        var state = reactor.initialState
        reactor.reduce(state: &state, mutation: .say("in place"))
        #expect(state.heard == "in place")
        #expect(Echo.version == 1)
        #expect(!Echo.isReacting)
        #expect(Echo.documentation.isEmpty)
    }

    @Test("F10: a reactor starts in its initial state, and its current state follows each action")
    func initialState() throws {
        let store = Store(Echo())
        #expect(store.state == Echo().initialState)
        try store.dispatch(.say("now"))
        #expect(store.state.heard == "now")
        #expect(Echo().initialState.heard == "nothing")
        #expect(try Tree(Echo(), epoch: 1).state(of: Echo.self).heard == "nothing")
        #expect(Tree(Echo(), epoch: 1).revision == Revision(epoch: 1, sequence: 0))
    }

    @Test("F10: the current state is never stale for observers, middleware and reactions")
    func neverStale() throws {
        let store = Store(Heirloom())
        var looks: [String] = []
        let observation = store.observe { shown in
            looks.append(shown == store.state ? "\(store.state.total)" : "stale")
        }
        let middleware = store.addMiddleware(
            Middleware { getState, _, _ in
                looks.append(getState() == store.state ? "then \(getState().total)" : "stale")
            })
        try store.dispatch(.add(2))
        #expect(store.state == Heirloom.State(total: 2, reacted: [2], asked: [0]))
        try store.dispatch(.add(3))
        #expect(store.state == Heirloom.State(total: 5, reacted: [2, 5], asked: [0, 2]))
        #expect(looks == ["0", "then 2", "2", "then 5", "5"])
        withExtendedLifetime((observation, middleware)) {}
    }

    @Test("F10: the current state is never stale after a nested or awaited send")
    func neverStaleAfterSending() async throws {
        let store = Store(Heirloom())
        var inside: [Int] = []
        let observation = store.observe { shown in
            guard shown.total == 1 else { return }
            store.send(.add(10))
            // A nested send is applied after the current action, not during it.
            inside.append(store.state.total)
        }
        try await store.perform(.add(1))
        #expect(inside == [1])
        #expect(store.state.total == 11)
        try await store.perform(.later(5))
        #expect(store.state.total == 16)
        withExtendedLifetime(observation) {}
    }

    @Test("the fingerprint distinguishes reactors, and is the same in every call")
    func fingerprint() {
        #expect(Tally.fingerprint == Tally.fingerprint)
        #expect(Tally.fingerprint != Echo.fingerprint)
    }

    @Test("a reactor without replies has an uninhabited reply type")
    func noReply() {
        #expect(throws: WireError.self) { try NoReply(wireBytes: [0xf6]) }
        #expect(Tree(Tally(), epoch: 1).root.replySchema == nil)
        #expect(Tree(Desk(), epoch: 1).root.replySchema != nil)
    }
}

/// A reactor that records each state it received, and when.
@Reactor
struct Heirloom {
    @Child var tally = Tally()

    enum Action: Equatable, Sendable {
        case add(Int)
        case later(Int)
    }

    enum Mutation: Equatable, Sendable {
        case added(by: Int, asked: Int)
        case reacted(Int)
    }

    struct State: Equatable, Sendable {
        var total = 0
        var reacted: [Int] = []
        var asked: [Int] = []
    }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let number):
            Mutations(.added(by: number, asked: state.total)).also($tally, .added(number))
        case .later(let number):
            Mutations(async: Effect { emit in emit(.added(by: number, asked: -1)) })
        }
    }

    @Reacts(to: \Heirloom.$tally)
    func tallied(_ mutation: Tally.Mutation, state: State) -> Mutations<Mutation> {
        [.reacted(state.total)]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .added(let number, let asked):
            state.total += number
            if asked >= 0 { state.asked.append(asked) }
        case .reacted(let total): state.reacted.append(total)
        }
    }
}
