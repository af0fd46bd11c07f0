import ReactorCore

/// A project is now a repository.
enum V6 {
    @Reactor
    struct Coordinator {
        @Child var settings = Settings()
        @Children var projects = { (_: String) in Repository() }

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

    typealias Settings = V4.Settings

    @Reactor
    struct Repository {
        static var formerNames: [String] { ["Project"] }

        @Children var runs = { (_: Int) in VersionedRun() }

        enum Action: Equatable, Sendable {
            case configure(String)
            case build
            case pause
            @WireInternal @WireAlias("nightly") case scheduled
        }
        enum Mutation: Equatable, Sendable {
            case configured(String)
            case opened(number: Int)
            case paused
        }
        @WireRemoved("owner")
        struct State: Equatable, Sendable {
            @WireAlias("script") var command = "true"
            var last = 0
            var isPaused = false
        }

        func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
            switch action {
            case .configure(let command):
                return Mutations(.configured(command))
                    .scheduling("nightly", after: .seconds(864_000_000), Action.scheduled)
            case .build, .scheduled:
                let number = state.last + 1
                return Mutations(.opened(number: number)).creating($runs, number)
            case .pause: return [.paused]
            }
        }

        func reduce(state: inout State, mutation: Mutation) {
            switch mutation {
            case .configured(let command): state.command = command
            case .opened(let number): state.last = number
            case .paused: state.isPaused = true
            }
        }
    }
}
