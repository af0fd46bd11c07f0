import ReactorCore
import Testing

@Suite("Reactor")
struct ReactorTests {
    @Test("F1: actions of a type of their own are decided, and only they")
    func typedActions() throws {
        let tree = Tree(Tally(), epoch: 1)
        #expect(try tree.send(Tally.Action.add(5)) == "applied 1")
        #expect(try tree.send(WireValue(json: #"{"add":2}"#)) == "applied 2")
        #expect(try tree.send(WireValue(json: #"{"multiply":2}"#)) == "not an action")
        #expect(try tree.send(WireValue(json: #"{"add":"2"}"#)) == "not an action")
        #expect(try tree.state(of: Tally.self).sum == 7)
    }

    @Test("F2: one action becomes other mutations, in their order")
    func mutationsDiffer() throws {
        let tree = Tree(Tally(), epoch: 1)
        #expect(try tree.send(Tally.Action.spread([3, 1, 2])) == "applied 1")
        #expect(try tree.state(of: Tally.self) == Tally.State(sum: 6, history: [3, 1, 2]))
    }

    @Test("F3: without mutations of its own, a reactor's action is its mutation")
    func passThrough() throws {
        let tree = Tree(Echo(), epoch: 1)
        #expect(try tree.send(Echo.Action.say("hello")) == "applied 1")
        #expect(try tree.state(of: Echo.self).heard == "hello")
        #expect(Echo.Mutation.self == Echo.Action.self)
        let decided = try Echo().mutate(action: .say("again"))
        #expect(decided.count == 1)
    }

    @Test("F4: a state that was read stays as it was when the reactor's goes on")
    func stateIsAValue() throws {
        let tree = Tree(Tally(), epoch: 1)
        let before = try tree.state(of: Tally.self)
        try tree.send(Tally.Action.add(1))
        #expect(before == Tally.State())
        #expect(try tree.state(of: Tally.self) != before)
    }

    @Test("F4: from outside, a reactor's state can be read and not be set")
    func readOnly() {
        // because a key path is writable where, and only where, an assignment compiles
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

    @Test("F8: what a reactor leaves out has a default")
    func defaults() throws {
        let reactor = Echo()
        var state = reactor.initialState
        reactor.reduce(state: &state, mutation: .say("in place"))
        #expect(state.heard == "in place")
        #expect(Echo.version == 1)
        #expect(!Echo.isReacting)
        #expect(Echo.documentation.isEmpty)
    }

    @Test("F10: a reactor starts in its initial state, and its current one follows each action")
    func initialState() throws {
        let store = Store(Echo())
        #expect(store.state == Echo().initialState)
        try store.dispatch(.say("now"))
        #expect(store.state.heard == "now")
        #expect(Echo().initialState.heard == "nothing")
        #expect(try Tree(Echo(), epoch: 1).state(of: Echo.self).heard == "nothing")
        #expect(Tree(Echo(), epoch: 1).revision == Revision(epoch: 1, sequence: 0))
    }

    @Test("the fingerprint tells reactors apart, and does not change from call to call")
    func fingerprint() {
        #expect(Tally.fingerprint == Tally.fingerprint)
        #expect(Tally.fingerprint != Echo.fingerprint)
    }

    @Test("a reactor without replies has a reply that nobody can make")
    func noReply() {
        #expect(throws: WireError.self) { try NoReply(wireBytes: [0xf6]) }
        #expect(Tree(Tally(), epoch: 1).root.replySchema == nil)
        #expect(Tree(Desk(), epoch: 1).root.replySchema != nil)
    }
}
