public import ReactorCore

/// The limits of the coordinator.
@Reactor
public struct Settings {
    /// Creates settings with their initial values.
    public init() {}

    /// A new value of one of the settings, which is also the mutation.
    public enum Action: Equatable, Sendable {
        /// Sets the number of runs that may run at the same time.
        case runsMax(Int)
        /// Sets the number of attempts after which a run fails.
        case attemptsMax(Int)
        /// Sets the time after which a worker counts as lost.
        case timeout(Duration)
        /// Sets the least pause before a run that lost its worker waits again.
        case retryPause(Duration)
    }

    /// The settings.
    @ReactorState
    public struct State: Equatable, Sendable {
        /// Maximum number of runs at the same time; with 0, no run starts.
        public var runsMax = 2
        /// Maximum number of attempts to perform a run; then it has failed.
        public var attemptsMax = 3
        /// Time after which a worker that has not finished counts as lost.
        public var timeout: Duration = .seconds(600)
        /// Least pause before a run that lost its worker waits again; the longest is half as long
        /// again.
        public var retryPause: Duration = .seconds(5)

        /// Creates the initial settings.
        public init() {}
    }

    public func mutate(action: Action) throws(Rejection) -> Mutations<Action> {
        let (isValid, range) =
            switch action {
            case .runsMax(let count): ((0...1_000).contains(count), "0 to 1,000 runs")
            case .attemptsMax(let count): ((1...100).contains(count), "1 to 100 attempts")
            case .timeout(let time): (time > .zero, "more than 0 seconds")
            case .retryPause(let time): (time >= .zero, "0 seconds or more")
            }
        guard isValid else {
            throw Rejection("out_of_range", "\(action) is out of range: set \(range)")
        }
        return [action]
    }

    public func reduce(state: inout State, mutation: Action) {
        switch mutation {
        case .runsMax(let count): state.runsMax = count
        case .attemptsMax(let count): state.attemptsMax = count
        case .timeout(let time): state.timeout = time
        case .retryPause(let time): state.retryPause = time
        }
    }
}
