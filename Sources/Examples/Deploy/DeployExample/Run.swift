public import ReactorCore

/// One run of a project: a worker performs its script, then the daemon deploys it.
///
/// The worker owns the run as long as its connection lasts. A run that loses its worker, or whose
/// time is over, waits again after a pause, and fails at the last attempt.
@Reactor
public struct Run {
    /// Maximum number of lines in the log; the oldest are dropped.
    public static let logLinesMax = 200
    static let ownedKey: WireKey = "worker"
    static let timeoutPlan = "timeout"
    static let retryPlan = "retry"
    static let deployTask = "deploy"

    private let id: RunID?
    private let hooks: Hooks

    /// Creates a run; a mirror needs neither its name nor hooks.
    public init(_ id: RunID? = nil, hooks: Hooks = .none) {
        self.id = id
        self.hooks = hooks
    }

    /// A request to a run.
    public enum Action: Equatable, Sendable {
        /// Adds a line to the log; for the run's worker.
        case log(String)
        /// The script has ended, with 0 as a success; for the run's worker.
        case finish(exitCode: Int32)
        /// Ends the run, whatever it does.
        case cancel
        /// The coordinator gives the run to a worker.
        @WireInternal case start(worker: Worker, limits: Settings.State)
        /// The worker's time is over.
        @WireInternal case expire
        /// The pause after a lost attempt is over.
        @WireInternal case retry
    }

    /// A change of a run.
    public enum Mutation: Equatable, Sendable {
        /// The project has created the run.
        case opened(RunOrder)
        /// A worker has the run, under these limits.
        case started(worker: Worker, limits: Settings.State)
        /// The log has another line.
        case logged(String)
        /// The worker was lost; the run pauses.
        case paused(String)
        /// The run waits for a worker again.
        case queued
        /// The worker's script has succeeded; the daemon deploys.
        case built
        /// The run has ended.
        case ended(phase: RunPhase, text: String)
    }

    /// A run's state, for all mirrors.
    @ReactorState
    public struct State: Equatable, Sendable {
        /// What to perform.
        public var order = RunOrder(script: "")
        /// What the run does.
        public var phase: RunPhase = .waiting
        /// The number of attempts so far.
        public var attempt = 0
        /// The worker that owns the run; nil if none does.
        public var worker: Worker?
        /// The coordinator's limits at the last start.
        public var limits = Settings.State()
        /// The last lines of the log, the oldest first.
        public var log: [String] = []

        /// Creates the state of a run without a script.
        public init() {}
    }

    public func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .start(let worker, let limits):
            guard state.phase == .waiting else { throw state.refusal(of: "start") }
            context.own(Self.ownedKey, connection: worker.connection)
            return Mutations(.started(worker: worker, limits: limits))
                .scheduling(Self.timeoutPlan, after: limits.timeout, Action.expire)
        case .log(let line):
            try state.check(context.caller)
            return [.logged(line)]
        case .finish(let code):
            try state.check(context.caller)
            let end =
                code == 0 ? success(state) : failure("the script ended with exit code \(code)")
            return leaving(state, context, end)
        case .expire:
            guard state.phase == .running else { throw state.refusal(of: "expire") }
            return leaving(state, context, loss(of: state, "its time was over", context))
        case .retry:
            guard state.phase == .pausing else { throw state.refusal(of: "retry") }
            return [.queued]
        case .cancel:
            guard !state.phase.isEnd else { throw state.refusal(of: "cancel") }
            return leaving(state, context, [.ended(phase: .cancelled, text: "cancelled")])
                .dropping(Self.retryPlan).dropping(Self.deployTask)
        }
    }

    public func connectionEnded(
        _ owned: OwnedKeys, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        loss(of: state, "worker \(state.worker?.name ?? "") has gone", context)
            .dropping(Self.timeoutPlan)
    }

    public static var durableTasks: [DurableTaskKind] {
        [DurableTaskKind(deployTask, String.self)]
    }

    public func perform(_ task: DurableTask, state: State) -> Effect<Mutation> {
        guard task.name == Self.deployTask, let id,
            let script = try? task.payload.decode(as: String.self)
        else { return .unperformed(task) }
        let deployment = Deployment(
            run: id, script: script, environment: state.order.environment, task: task.id)
        return Effect { [hooks] emit in
            emit.last(.ended(phase: .succeeded, text: try await hooks.deploy(deployment)))
        }
    }

    public func error(_ error: any Error, action: Action?, state: State) -> Mutations<Mutation> {
        failure("deployment: \(error)")
    }

    public func reduce(state: inout State, mutation: Mutation) { state.apply(mutation) }
}
