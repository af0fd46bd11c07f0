import ReactorCore

/// A counter that refuses to go below zero.
@Reactor
struct Counter {
    enum Action: Equatable, Sendable {
        case increment(by: Int)
        case decrement(by: Int)
        case ask
    }

    enum Mutation: Equatable, Sendable { case added(Int) }

    struct State: Equatable, Sendable {
        var count = 0
        var history: [Int] = []
    }

    enum Reply: Equatable, Sendable { case count(Int) }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .increment(let amount): return [.added(amount)]
        case .decrement(let amount):
            guard amount <= state.count else { throw Rejection("negative", "only \(state.count)") }
            return [.added(-amount)]
        case .ask:
            context.reply(.count(state.count))
            return .none
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .added(let amount):
            state.count += amount
            state.history.append(amount)
        }
    }
}

/// Searches some time after the last input; a child counts the searches, a follower logs.
@Reactor
struct Search {
    @Child var count = Counter()
    @Children var tabs = { (_: WireKey) in Counter() }

    enum Action: Equatable, Sendable {
        case type(String)
        case log(String)
        case open(String)
        case tick
        case stop
        case explode
        case submit
    }

    enum Mutation: Equatable, Sendable {
        case typed(String)
        case found(String)
        case logged(String)
        case ticked
    }

    struct State: Equatable, Sendable {
        var text = ""
        var result = ""
        var log: [String] = []
        var ticks = 0
    }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .type(let text):
            return Mutations(.typed(text)).effect(
                .after(.milliseconds(300), cancelID: "search", .found(text.uppercased())))
        case .log(let text): return [.logged(text)]
        case .open(let name): return Mutations.none.creating($tabs, WireKey(name))
        case .tick:
            return Mutations(
                async: .every(.seconds(1), cancelID: "ticker") { .ticked })
        case .stop: return Mutations.none.cancelling("ticker")
        case .explode: return Mutations(async: Effect { _ in throw Rejection("boom", "as asked") })
        case .submit:
            context.dispatch(.log("submitted \(state.text)"))
            return Mutations.none.also($count, .added(1))
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .typed(let text): state.text = text
        case .found(let text): state.result = text
        case .logged(let text): state.log.append(text)
        case .ticked: state.ticks += 1
        }
    }
}

/// A reactor whose `reduce` is not deterministic: it counts its calls.
final class Impure: Reactor {
    @WireCodable
    enum Action: Equatable, Sendable { case touch }

    @WireCodable
    struct State: Equatable, Sendable { var stamp = 0 }

    var initialState: State { State() }
    private var calls = 0

    func reduce(state: inout State, mutation: Action) {
        calls += 1
        state.stamp = calls
    }
}

/// A reactor whose state depends on the order of a dictionary.
struct Unordered: Reactor {
    @WireCodable
    enum Action: Equatable, Sendable { case add(Int) }

    @WireCodable
    struct State: Equatable, Sendable {
        var items: [String: Int] = [:]
        var order = ""
    }

    var initialState: State { State() }

    func reduce(state: inout State, mutation: Action) {
        guard case .add(let number) = mutation else { return }
        state.items["item \(number)"] = number
        state.order = state.items.keys.joined(separator: ",")
    }
}

/// A till; only a careful till checks that it holds the amount to take.
@Reactor
struct Till {
    var isCareful = true

    enum Action: Equatable, Sendable {
        case put(Int)
        case take(Int)
    }

    enum Mutation: Equatable, Sendable { case moved(Int) }

    struct State: Equatable, Sendable { var total = 0 }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .put(let amount): return [.moved(amount)]
        case .take(let amount):
            guard !isCareful || amount <= state.total else { throw Rejection("empty", "too much") }
            return [.moved(-amount)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .moved(let amount): state.total += amount
        }
    }
}

/// A shop with a till as a child, and an effect that adds deliveries.
@Reactor
struct Shop {
    @Child var till = Till()

    enum Action: Equatable, Sendable { case order(Int) }

    enum Mutation: Equatable, Sendable {
        case ordered(Int)
        case delivered(Int)
    }

    struct State: Equatable, Sendable {
        var open = 0
        var delivered = 0
    }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .order(let amount):
            return Mutations(.ordered(amount)).also($till, .moved(amount)).effect(
                .after(.milliseconds(5), .delivered(amount)))
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .ordered(let amount): state.open += amount
        case .delivered(let amount):
            state.open -= amount
            state.delivered += amount
        }
    }
}

/// A bench whose seats are owned by connections; records the actions of its counter.
@Reactor
struct Bench {
    @Child var count = Counter()

    enum Action: Equatable, Sendable { case sit(String) }

    enum Mutation: Equatable, Sendable {
        case sat(String)
        case rose(String)
        case noted(Int)
    }

    struct State: Equatable, Sendable {
        var seats: [String] = []
        var notes: [Int] = []
    }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .sit(let name):
            context.own(WireKey(name))
            return [.sat(name)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .sat(let name): state.seats.append(name)
        case .rose(let name): state.seats.removeAll { $0 == name }
        case .noted(let amount): state.notes.append(amount)
        }
    }

    func react(to change: ChildChange, state: State) -> Mutations<Mutation> {
        guard case .added(let amount)? = change.mutation(of: $count) else { return .none }
        return [.noted(amount)]
    }

    func connectionEnded(
        _ owned: OwnedKeys, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        Mutations(sync: owned.keys.map { .rose($0.text) })
    }
}

/// Runs a search some time after the last input, with a saga.
@Reactor
struct Finder {
    enum Action: Equatable, Sendable {
        case type(String)
        case run(String)
    }

    enum Mutation: Equatable, Sendable {
        case typed(String)
        case ran(String)
    }

    struct State: Equatable, Sendable {
        var text = ""
        var ran: [String] = []
    }

    var sagas: [Saga<Self>] { [Saga(Self.debounced)] }

    static func debounced(_ saga: SagaContext<Finder>) async throws {
        saga.takeLatest {
            if case .type(let text) = $0 { text } else { nil }
        } do: { saga, text in
            try await saga.sleep(for: .milliseconds(300))
            try await saga.put(.run(text))
        }
    }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .type(let text): [.typed(text)]
        case .run(let text): [.ran(text)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .typed(let text): state.text = text
        case .ran(let text): state.ran.append(text)
        }
    }
}

/// Guests that come and go.
@Reactor
struct Inn {
    @Children var guests = { (_: WireKey) in Guest(hasLuggage: true) }

    enum Action: Equatable, Sendable {
        case open(String)
        case close(String)
        case reopen(String)
    }

    enum Mutation: Equatable, Sendable { case noted }

    struct State: Equatable, Sendable { var changes = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .open(let name): Mutations(.noted).creating($guests, WireKey(name))
        case .close(let name): Mutations(.noted).removing($guests, WireKey(name))
        case .reopen(let name):
            Mutations(.noted).removing($guests, WireKey(name)).creating($guests, WireKey(name))
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.changes += 1 }
}

/// A child with a child of its own, and with a class in its state.
@Reactor
struct Guest {
    @Child var count = Counter()
    var hasLuggage = false

    enum Action: Equatable, Sendable { case greet }

    struct State: Sendable {
        var greetings = 0
        @NotTransmitted var luggage: Luggage? = nil
    }

    var initialState: State {
        var state = State()
        if hasLuggage { state.luggage = Luggage() }
        return state
    }

    func reduce(state: inout State, mutation: Action) { state.greetings += 1 }
}

/// An object that exists as long as a state holds it.
final class Luggage: Sendable {}
