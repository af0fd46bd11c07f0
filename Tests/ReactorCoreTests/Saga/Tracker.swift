import ReactorCore

/// A reactor for sagas: a search text, a sum, and errors.
@Reactor
struct Tracker {
    enum Action: Equatable, Sendable {
        case search(String)
        case run(String)
        case add(Int)
        case fetch(Int)
        case fetched(Int)
        case stop
        case refuse
    }

    enum Mutation: Equatable, Sendable {
        case ran(String)
        case added(Int)
        case failed(String)
    }

    struct State: Equatable, Sendable {
        var runs: [String] = []
        var sum = 0
        var failures: [String] = []
    }

    var sagas: [Saga<Tracker>] = []

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .run(let text): return [.ran(text)]
        case .add(let amount): return [.added(amount)]
        case .fetch(let number):
            context.dispatch(.fetched(number))
            return .none
        case .refuse: throw Rejection("refused", "not this one")
        case .search, .fetched, .stop: return .none
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .ran(let text): state.runs.append(text)
        case .added(let amount): state.sum += amount
        case .failed(let text): state.failures.append(text)
        }
    }

    func error(
        _ error: any Error, action: Action?, state: State
    ) -> Mutations<Mutation> {
        [.failed("\(error)")]
    }

    /// The text of a search.
    static let text: @Sendable (Action) -> String? = {
        if case .search(let text) = $0 { text } else { nil }
    }

    /// The amount of an addition.
    static let amount: @Sendable (Action) -> Int? = {
        if case .add(let amount) = $0 { amount } else { nil }
    }
}

/// A tracker below another reactor, and keyed trackers that are created and removed.
@Reactor
struct Office {
    @Child var tracker = Tracker()
    @Children var rooms = { (key: WireKey) in Tracker(sagas: [Saga(Office.greet)]) }

    enum Action: Equatable, Sendable {
        case open(String)
        case close(String)
    }
    enum Mutation: Equatable, Sendable { case noted(String) }
    struct State: Equatable, Sendable { var notes: [String] = [] }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .open(let key): Mutations(.noted("open \(key)")).creating($rooms, WireKey(key))
        case .close(let key): Mutations(.noted("close \(key)")).removing($rooms, WireKey(key))
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        if case .noted(let text) = mutation { state.notes.append(text) }
    }

    static func greet(_ saga: SagaContext<Tracker>) async throws {
        saga.takeEvery(Tracker.text) { saga, text in try await saga.put(.run("hello \(text)")) }
    }
}

/// Refuses the puts of its sagas, and records their actions.
@Reactor
struct Failing {
    enum Action: Equatable, Sendable {
        case ask(Int)
        case refuse(Int)
    }
    enum Mutation: Equatable, Sendable { case failed(String) }
    struct State: Equatable, Sendable { var failures: [String] = [] }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        guard case .refuse(let number) = action else { return .none }
        throw Rejection("no", "\(number)")
    }

    func reduce(state: inout State, mutation: Mutation) {
        if case .failed(let text) = mutation { state.failures.append(text) }
    }

    func error(_ error: any Error, action: Action?, state: State) -> Mutations<Mutation> {
        let cause = action.map { "\($0)" } ?? "nothing"
        let rejection = error as? Rejection
        return [.failed("\(cause): \(rejection?.code ?? "") \(rejection?.message ?? "\(error)")")]
    }
}

struct Broken: Error, Equatable, CustomStringConvertible {
    var description: String { "broken" }
}
