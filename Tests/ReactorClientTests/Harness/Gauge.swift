import ReactorCore

/// A number, shown through a transform; it has two counters as children.
@Reactor
struct Gauge {
    typealias States = @Sendable (Transform<State>) -> Transform<State>

    enum Action: Equatable, Sendable { case set(Int) }
    enum Mutation: Equatable, Sendable { case set(Int) }
    struct State: Equatable, Sendable { var value = 0 }

    @Child var first = Dial()
    @Child var second = Dial()
    var states: States = { $0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .set(let value): [.set(value)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .set(let value): state.value = value
        }
    }

    func transform(state: Transform<State>) -> Transform<State> { states(state) }
}

/// A state that is shown through a transform, given by its parent.
@Reactor
struct Dial {
    enum Action: Equatable, Sendable { case turn(Int) }
    enum Mutation: Equatable, Sendable { case turned(Int) }

    enum State: Equatable, Sendable {
        case off
        case at(Int)
    }

    var states: @Sendable (Transform<State>) -> Transform<State> = { $0 }

    var initialState: State { .off }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .turn(let place): [.turned(place)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .turned(let place): state = .at(place)
        }
    }

    func transform(state: Transform<State>) -> Transform<State> { states(state) }
}

/// Versions of the gauge, which have its name.
enum OtherVersion {
    /// A gauge of another program: the state is the same, the mutations differ.
    @Reactor
    struct Gauge {
        enum Action: Equatable, Sendable { case set(Int) }
        enum Mutation: Equatable, Sendable { case moved(by: Int) }
        struct State: Equatable, Sendable { var value = 0 }

        func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
            switch action {
            case .set(let value): [.moved(by: value - state.value)]
            }
        }

        func reduce(state: inout State, mutation: Mutation) {
            switch mutation {
            case .moved(let amount): state.value += amount
            }
        }

        func transform(state: Transform<State>) -> Transform<State> {
            state.map { State(value: $0.value + 1) }
        }
    }
}
