import ReactorCore

/// A plan builds with a reason, and the list of names has values with fields: the last version,
/// which is today's.
enum V7 {
    @Reactor
    struct Coordinator {
        @Child var settings = Settings()
        @Children var projects = { (_: String) in Repository() }

        enum Action: Equatable, Sendable { case add(project: String) }
        enum Mutation: Equatable, Sendable { case added(project: String) }
        struct State: Equatable, Sendable { var names: [RepositoryName] = [] }

        func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
            switch action {
            case .add(let name): Mutations(.added(project: name)).creating($projects, name)
            }
        }

        func reduce(state: inout State, mutation: Mutation) {
            switch mutation {
            case .added(let name): state.names.append(RepositoryName(text: name))
            }
        }

        /// Converts the list of texts by hand: a step of the state would need a version of it.
        static func migrate(_ old: WireValue, of kind: HistoryKind) -> WireValue? {
            guard kind == .state, let names = old["names"]?.arrayValue else { return nil }
            return ["names": .array(names.map { ["text": $0] })]
        }
    }

    @WireCodable
    struct RepositoryName: Equatable, Sendable {
        var text: String
        var isHidden = false
    }

    typealias Settings = V4.Settings

    @Reactor
    struct Repository {
        static var formerNames: [String] { ["Project"] }

        @Children var runs = { (_: Int) in VersionedRun() }

        enum Action: Equatable, Sendable {
            static var wireVersion: Int { 2 }

            static var wireMigrations: WireMigrations {
                .from(1) { action in
                    // A plan of the first versions has the name that version 5 aliases.
                    for name in ["nightly", "scheduled"] where action.caseName?.text == name {
                        action.renameCase(WireKey(name), to: "build")
                        try action.inCase("build") { try $0.set("because", to: "nightly") }
                    }
                }
            }

            case configure(String)
            case build(because: String = "asked")
            case pause
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
                    .scheduling(
                        "nightly", after: .seconds(864_000_000), Action.build(because: "nightly"))
            case .build:
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
