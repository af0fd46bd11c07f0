public import ReactorCore

/// Where the daemon deploys.
@WireCodable
public enum Environment: String, CaseIterable, ChildKey, Sendable {
    /// For the people who test.
    case staging
    /// For everyone.
    case production
}

/// What is deployed in an environment of a project.
@Reactor
public struct Target {
    /// Creates a target without a deployment.
    public init() {}

    /// A deployment that has succeeded, which is also the mutation.
    public enum Action: Equatable, Sendable {
        /// The daemon has deployed a run of the project.
        @WireInternal case deployed(run: Int, at: WallTime)
    }

    /// The newest deployment.
    @ReactorState
    public struct State: Equatable, Sendable {
        /// The number of the run that was deployed last; nil before the first.
        public var run: Int?
        /// When that was; nil before the first.
        public var deployed: WallTime?

        /// Creates the state before the first deployment.
        public init() {}
    }

    public func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .deployed(let run, let time):
            state.run = run
            state.deployed = time
        }
    }
}
