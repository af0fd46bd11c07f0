import ReactorCore
import Testing

/// A counter whose reducer returns a new state.
@Reactor
final class Meter: BaseReactor<Meter.Action, Meter.Mutation, Meter.State> {
    enum Action: Equatable, Sendable { case up, down, refuse }
    enum Mutation: Equatable, Sendable { case added(Int) }
    struct State: Equatable, Sendable { var count = 0 }

    override func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .up: return [.added(1)]
        case .down: return [.added(-1)]
        case .refuse: throw Rejection("refused", "not today")
        }
    }

    override func reduce(state: State, mutation: Mutation) -> State {
        switch mutation {
        case .added(let amount): State(count: state.count + amount)
        }
    }
}

/// Repeats each action in place: its actions are its mutations.
@Reactor
final class Parrot: BaseReactor<Parrot.Action, Parrot.Action, Parrot.State> {
    enum Action: Equatable, Sendable { case say(String) }
    struct State: Equatable, Sendable { var words: [String] }

    init(_ first: String) { super.init(initialState: State(words: [first])) }

    override func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .say(let word): state.words.append(word)
        }
    }
}

@WireCodable
enum LampAction: Equatable, Sendable { case flip }

@WireCodable
struct LampState: Equatable, Sendable { var isOn = false }

/// Overrides nothing; its types are declared elsewhere.
@Reactor
final class Lamp: BaseReactor<LampAction, Meter.Mutation, LampState> {}

/// Records the applied mutations, for any reactor that inherits from it.
class Logged<Action: Sendable, Fact: Sendable, State: Sendable>:
    BaseReactor<Action, Fact, State>
{
    let label: String

    init(_ label: String, _ state: State) {
        self.label = label
        super.init(initialState: state)
    }
}

/// A subclass of a generic class.
@Reactor
final class Almanac: Logged<Almanac.Action, Almanac.Action, Almanac.State> {
    typealias Action = [String]
    struct State: Equatable, Sendable { var lines: [String] = [] }

    override func reduce(state: inout State, mutation: [String]) { state.lines += mutation }
}

/// A reactor that has children, reacts to one, and decides with its context.
@Reactor
final class Hall: BaseReactor<Hall.Action, Hall.Mutation, Hall.State> {
    enum Action: Equatable, Sendable { case look, enter }
    enum Mutation: Equatable, Sendable {
        case seen(Int)
        case entered
    }
    struct State: Equatable, Sendable {
        var seen: [Int] = []
        var entries = 0
    }
    @Child var meter = Meter()

    func mutate(
        action: Action, state: State, context: ReactorContext<Hall>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .look: [.seen(context.state(of: $meter).count)]
        case .enter: Mutations(.entered).also($meter, .added(1))
        }
    }

    override func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .seen(let count): state.seen.append(count)
        case .entered: state.entries += 1
        }
    }

    @Reacts(to: \Hall.$meter)
    func metered(_ mutation: Meter.Mutation, state: State) -> Mutations<Mutation> {
        state.entries > 0 ? [.seen(-1)] : .none
    }
}

/// Overrides every hook and pipeline; implements the protocol's requirement for middleware.
@Reactor
final class Pipe: BaseReactor<Pipe.Action, Pipe.Mutation, Pipe.State> {
    enum Action: Equatable, Sendable {
        case add(Int)
        case fail
    }
    enum Mutation: Equatable, Sendable { case added(Int) }
    struct State: Equatable, Sendable { var sum = 0 }

    var middleware: [Middleware<Pipe>] {
        [
            Middleware { _, action, dispatch in
                if action == .add(4) { dispatch(.add(1_000)) }
            }
        ]
    }

    override func mutate(action: Action) -> Mutations<Mutation> {
        switch action {
        case .add(let amount): [.added(amount)]
        case .fail: Mutations(async: Effect { _ in throw FetchError.offline })
        }
    }

    override func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .added(let amount): state.sum += amount
        }
    }

    override func start(state: State) -> Mutations<Mutation> { [.added(100)] }

    override func error(
        _ error: any Error, action: Action?, state: State
    ) -> Mutations<Mutation> { [.added(action == .fail ? 10_000 : 0)] }

    override func transform(action: Transform<Action>) -> Transform<Action> {
        action.filter { $0 != .add(0) }
    }

    override func transform(mutation: Transform<Mutation>) -> Transform<Mutation> {
        mutation.map { .added($0.amount * 2) }
    }

    override func transform(state: Transform<State>) -> Transform<State> {
        state.map { State(sum: -$0.sum) }
    }
}

extension Pipe.Mutation {
    fileprivate var amount: Int {
        switch self {
        case .added(let amount): amount
        }
    }
}

@Suite("BaseReactor")
struct BaseReactorTests {
    @Test("F7: a class between the base class and a reactor may be generic, and an action an array")
    func genericBase() throws {
        let store = Store(Almanac("first", Almanac.State(lines: ["-"])))
        try store.dispatch(["a", "b"])
        #expect(store.state.lines == ["-", "a", "b"])
    }

    @Test("F7: a subclass overrides the hooks and the pipelines")
    func hooks() async throws {
        let world = ManualWorld()
        let tree = Tree(Pipe(), epoch: 1, environment: world.environment)
        tree.open()
        #expect(try tree.state(of: Pipe.self).sum == 200)
        try tree.send(Pipe.Action.add(4))
        #expect(try tree.state(of: Pipe.self).sum == 2_208)
        #expect(try tree.json() == #"{"sum":-2208}"#)
        try tree.send(Pipe.Action.add(0))
        #expect(try tree.state(of: Pipe.self).sum == 2_208)
        try tree.send(Pipe.Action.fail)
        tree.start(tree.turn.effects)
        await world.runEffects()
        world.deliver(to: tree)
        #expect(try tree.state(of: Pipe.self).sum == 22_208)
    }

    @Test("F7: a subclass overrides some methods, and is a reactor like others")
    func overrides() throws {
        let tree = Tree(Meter(), epoch: 1)
        #expect(try tree.send(Meter.Action.up) == "applied 1")
        #expect(try tree.send(Meter.Action.up) == "applied 2")
        #expect(try tree.send(Meter.Action.refuse) == "rejected refused")
        #expect(try tree.send(Meter.Action.down) == "applied 3")
        #expect(try tree.state(of: Meter.self).count == 1)
        #expect(Meter.makeForMirror().initialState == Meter.State())
        #expect(Meter(initialState: Meter.State(count: 5)).initialState.count == 5)
    }

    @Test("F7: an action that is the mutation passes through; the reducer may work in place")
    func passThrough() throws {
        let store = Store(Parrot("hello"))
        try store.dispatch(.say("world"))
        #expect(store.state.words == ["hello", "world"])
    }

    @Test("F7: methods that a subclass does not override do nothing")
    func defaults() throws {
        let store = Store(Lamp(initialState: LampState(isOn: true)))
        try store.dispatch(.flip)
        #expect(store.state.isOn)
        let lamp = Lamp(initialState: LampState())
        #expect(lamp.reduce(state: LampState(isOn: true), mutation: .added(1)).isOn)
        #expect(Lamp.Mutation.self == Meter.Mutation.self)
    }

    @Test("F7: a subclass has children, reactions and the form with a context")
    func family() throws {
        let tree = Tree(Hall(), epoch: 1)
        #expect(try tree.send(Meter.Action.up, to: "/meter") == "applied 1")
        #expect(try tree.send(Hall.Action.look) == "applied 2")
        #expect(try tree.send(Hall.Action.enter) == "applied 3")
        #expect(try tree.state(of: Hall.self) == Hall.State(seen: [1, -1], entries: 1))
        #expect(try tree.state(of: Meter.self, "/meter").count == 2)
    }

    @Test("F7, F8, F9: an inherited, a hand-written and a macro's reactor behave the same")
    func threeRoutes() throws {
        let stores = (Store(Meter()), Store(MeterByHand()), Store(MeterByMacro()))
        for isUp in [true, true, false] {
            try stores.0.dispatch(isUp ? .up : .down)
            try stores.1.dispatch(isUp ? .up : .down)
            try stores.2.dispatch(isUp ? .up : .down)
        }
        #expect(stores.0.state == Meter.State(count: 1))
        #expect(stores.1.state == Meter.State(count: 1))
        #expect(stores.2.state == Meter.State(count: 1))
        #expect(stores.0.sequence == 3 && stores.1.sequence == 3 && stores.2.sequence == 3)
    }
}

/// The same reactor through the protocol.
struct MeterByHand: Reactor {
    typealias Action = Meter.Action
    typealias Mutation = Meter.Mutation
    typealias State = Meter.State

    var initialState: State { State() }

    func mutate(action: Action) -> Mutations<Mutation> { [.added(action == .up ? 1 : -1)] }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .added(let amount): state.count += amount
        }
    }
}

/// The same reactor through the macro.
@Reactor
struct MeterByMacro {
    typealias Action = Meter.Action
    typealias Mutation = Meter.Mutation
    typealias State = Meter.State

    var initialState: State { State() }

    func mutate(action: Action) -> Mutations<Mutation> { [.added(action == .up ? 1 : -1)] }

    func reduce(state: State, mutation: Mutation) -> State {
        switch mutation {
        case .added(let amount): State(count: state.count + amount)
        }
    }
}
