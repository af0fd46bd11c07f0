import ReactorCore

// Later versions of ``Fickle``. A history knows each by the name of its innermost type.

/// Its state has another name for the count, and does not say so.
enum Renamed {
    @Reactor
    struct Fickle {
        enum Action: Equatable {
            case add(by: Int)
            case plan(by: Int)
            case remind(by: Int)
        }

        enum Mutation: Equatable { case added(by: Int) }

        struct State: Equatable { var total = 0 }

        func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
            switch action {
            case .add(let amount), .plan(let amount), .remind(let amount): [.added(by: amount)]
            }
        }

        func reduce(state: inout State, mutation: Mutation) {
            switch mutation {
            case .added(let amount): state.total += amount
            }
        }
    }
}

/// Its state says that the count has another name.
enum Aliased {
    @Reactor
    struct Fickle {
        enum Action: Equatable {
            case add(by: Int)
            case plan(by: Int)
            case remind(by: Int)
        }

        enum Mutation: Equatable { case added(by: Int) }

        struct State: Equatable { @WireAlias("count") var total = 0 }

        func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
            switch action {
            case .add(let amount), .plan(let amount), .remind(let amount): [.added(by: amount)]
            }
        }

        func reduce(state: inout State, mutation: Mutation) {
            switch mutation {
            case .added(let amount): state.total += amount
            }
        }
    }
}

/// Its mutation has text where the history has numbers.
enum Retyped {
    @Reactor
    struct Fickle {
        enum Action: Equatable {
            case add(by: Int)
            case plan(by: Int)
            case remind(by: Int)
        }

        enum Mutation: Equatable { case added(by: String) }

        struct State: Equatable { var count = 0 }

        func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
            switch action {
            case .add(let amount), .plan(let amount), .remind(let amount):
                [.added(by: String(amount))]
            }
        }

        func reduce(state: inout State, mutation: Mutation) {
            switch mutation {
            case .added(let amount): state.count += Int(amount) ?? 0
            }
        }
    }
}

/// It has no action `remind`.
enum Unplanned {
    @Reactor
    struct Fickle {
        enum Action: Equatable { case add(by: Int) }

        enum Mutation: Equatable { case added(by: Int) }

        struct State: Equatable { var count = 0 }

        func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
            switch action {
            case .add(let amount): [.added(by: amount)]
            }
        }

        func reduce(state: inout State, mutation: Mutation) {
            switch mutation {
            case .added(let amount): state.count += amount
            }
        }
    }
}

/// Another reactor.
@Reactor
struct Steady {
    enum Action: Equatable { case add(by: Int) }

    struct State: Equatable { var count = 0 }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .add(let amount): state.count += amount
        }
    }
}

/// Adds one to its count at each start.
@Reactor
struct Starting {
    enum Action: Equatable { case add(by: Int) }

    struct State: Equatable { var count = 0 }

    func start(state: State) -> Mutations<Action> { [.add(by: 1)] }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .add(let amount): state.count += amount
        }
    }
}
