import ReactorCore

/// The timeout is in seconds, and no longer in minutes.
enum V4 {
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
            static var wireVersion: Int { 2 }

            static var wireMigrations: WireMigrations {
                .from(1) { try $0.convert("timeout") { (minutes: Int) in minutes * 60 } }
            }

            case timeout(Int)
        }

        struct State: Equatable, Sendable {
            static var wireVersion: Int { 2 }

            static var wireMigrations: WireMigrations {
                .from(1) { try $0.convert("timeout") { (minutes: Int) in minutes * 60 } }
            }

            /// In seconds.
            var timeout = 600
        }

        func reduce(state: inout State, mutation: Action) {
            switch mutation {
            case .timeout(let time): state.timeout = time
            }
        }
    }

    typealias Project = V3.Project
}
