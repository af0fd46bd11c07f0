import ReactorCore

/// The first version.
enum V1 {
    @Reactor
    struct Coordinator {
        @Child var settings = Settings()
        @Children var projects = { (_: String) in Project() }

        enum Action: Equatable, Sendable { case add(project: String) }
        enum Mutation: Equatable, Sendable { case added(project: String) }
        struct State: Equatable, Sendable { var names: [String] = [] }

        func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
            switch action {
            case .add(let name): Mutations(.added(project: name)).creating($projects, name)
            }
        }

        func reduce(state: inout State, mutation: Mutation) {
            switch mutation {
            case .added(let name): state.names.append(name)
            }
        }
    }

    @Reactor
    struct Settings {
        enum Action: Equatable, Sendable {
            case timeout(Int)
        }

        struct State: Equatable, Sendable {
            /// In minutes.
            var timeout = 10
        }

        func reduce(state: inout State, mutation: Action) {
            switch mutation {
            case .timeout(let time): state.timeout = time
            }
        }
    }

    @Reactor
    struct Project {
        @Children var runs = { (_: Int) in VersionedRun() }

        enum Action: Equatable, Sendable {
            case configure(String)
            case build
            @WireInternal case nightly
        }
        enum Mutation: Equatable, Sendable {
            case configured(String)
            case opened(number: Int)
        }
        struct State: Equatable, Sendable {
            var script = "true"
            var owner = ""
            var last = 0
        }

        func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
            switch action {
            case .configure(let script):
                return Mutations(.configured(script))
                    .scheduling("nightly", after: .seconds(864_000_000), Action.nightly)
            case .build, .nightly:
                let number = state.last + 1
                return Mutations(.opened(number: number)).creating($runs, number)
            }
        }

        func reduce(state: inout State, mutation: Mutation) {
            switch mutation {
            case .configured(let script): state.script = script
            case .opened(let number): state.last = number
            }
        }
    }
}
