import ReactorCore

/// A counter of another program: the state is the stock counter's, the mutations differ.
@Reactor
struct OtherCounter {
    enum Action { case jump(to: Int64) }
    enum Mutation { case jumped(to: Int64) }
    struct State: Equatable { var count: Int64 = 0 }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .jump(let target): [.jumped(to: target)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .jumped(let target): state.count = target
        }
    }
}

/// Reactors with the stock counter's name and other fields.
enum Named {
    /// A counter whose state has a field that the stock counter's lacks.
    @Reactor
    struct Counter {
        enum Action { case rename(String) }

        struct State: Equatable {
            var count: Int64
            var title: String
        }

        var initialState: State { State(count: 0, title: "") }

        func reduce(state: inout State, mutation: Action) {
            switch mutation {
            case .rename(let title): state.title = title
            }
        }
    }
}

/// Versions of the stock counter, which have its name.
enum Other {
    /// A counter with the stock counter's state and other mutations.
    @Reactor
    struct Counter {
        enum Action { case jump(to: Int64) }
        enum Mutation { case jumped(to: Int64) }
        struct State: Equatable { var count: Int64 = 0 }

        func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
            switch action {
            case .jump(let target): [.jumped(to: target)]
            }
        }

        func reduce(state: inout State, mutation: Mutation) {
            switch mutation {
            case .jumped(let target): state.count = target
            }
        }
    }
}

/// Versions of the stock counter with fields that it lacks, or without its field.
enum Open {
    /// A counter with an optional field more.
    @Reactor
    struct Counter {
        enum Action { case rename(String) }

        struct State: Equatable {
            var count: Int64 = 0
            var note: String?
        }

        func reduce(state: inout State, mutation: Action) {}
    }
}

enum Eager {
    /// A counter with an optional field more, whose default is not `nil`.
    @Reactor
    struct Counter {
        enum Action { case rename(String) }

        struct State: Equatable {
            var count: Int64 = 0
            var note: String? = "none"
        }

        func reduce(state: inout State, mutation: Action) {}
    }
}

enum Bare {
    /// A counter that counts nothing.
    @Reactor
    struct Counter {
        enum Action { case nothing }
        struct State: Equatable {}

        func reduce(state: inout State, mutation: Action) {}
    }
}

enum Later {
    /// A counter as a later version might declare it.
    @Reactor
    struct Counter {
        enum Action { case rename(String) }

        struct State: Equatable {
            var count: Int64 = 0
            var title = "none"
        }

        func reduce(state: inout State, mutation: Action) {
            switch mutation {
            case .rename(let title): state.title = title
            }
        }
    }
}

/// A reactor of another type, every field of which has a default.
@Reactor
struct DefaultedStats {
    enum Action { case sample(Int64) }

    struct State: Equatable {
        var total: Int64 = 5
        var name = "none"
    }

    func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .sample(let value): state.total += value
        }
    }
}

/// A page of text: a long page has a snapshot in parts.
@Reactor
struct Page {
    enum Action { case write(String) }
    enum Mutation { case wrote(String) }
    struct State: Equatable { var text = "" }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .write(let text): [.wrote(text)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .wrote(let text): state.text += text
        }
    }
}

/// Starts work that fails after its action was applied.
@Reactor
struct Errand {
    enum Action { case run(String) }
    enum Mutation { case began }
    struct State: Equatable { var runs = 0 }

    struct Failure: Error, CustomStringConvertible { var description: String }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .run(let text):
            Mutations(sync: [.began], async: Effect { _ in throw Failure(description: text) })
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.runs += 1 }
}

/// The counter under a later name.
@Reactor
struct Turnstile {
    static var formerNames: [String] { ["Counter"] }

    enum Action { case nothing }
    struct State: Equatable { var count: Int64 = 0 }

    func reduce(state: inout State, mutation: Action) {}
}

/// Roots with a later version of the counter at `/visits`.
enum Upgraded {
    @Reactor
    struct House {
        @Child var visits = Later.Counter()

        enum Action { case nothing }
        struct State { var name = "house" }

        func reduce(state: inout State, mutation: Action) {}
    }

    /// The counter has another name.
    @Reactor
    struct Renamed {
        @Child var visits = Turnstile()

        enum Action { case nothing }
        struct State { var name = "house" }

        func reduce(state: inout State, mutation: Action) {}
    }
}
