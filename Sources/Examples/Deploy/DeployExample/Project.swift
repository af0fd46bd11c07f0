public import ReactorCore

/// A project: what to run for it, and its last runs.
@Reactor
public struct Project {
    /// Maximum number of runs that a project keeps; a new run removes the oldest ended one.
    public static let runsMax = 20
    private static let nightlyPlan = "nightly"

    /// The runs by their numbers: `/projects/web/runs/7`.
    @Children public var runs: (Int) -> Run
    /// The kept runs by what they do: `/projects/web/stats`.
    @Derived public var stats = Derivation(RunStats.self, over: \Project.$runs) { $0.phase }
    private let name: String

    /// Creates a project; a mirror needs neither a name nor hooks.
    public init(name: String = "", hooks: Hooks = .none) {
        self.name = name
        runs = { number in Run(RunID(project: name, number: number), hooks: hooks) }
    }

    /// A request to a project.
    public enum Action: Equatable, Sendable {
        /// Queues a run; the reply is its number.
        case build(because: String = "asked")
        /// Replaces the settings.
        case configure(ProjectSettings)
        /// Takes back the last change of the settings, whichever client made it.
        case undo
        /// Takes back the last undo.
        case redo
        /// The time of the nightly run has come.
        @WireInternal case nightly
    }

    /// A change of a project.
    public enum Mutation: Equatable, Sendable {
        /// A client has set the settings.
        case configured(ProjectSettings, Origin)
        /// The last change of the settings was taken back.
        case undone
        /// The last undo was taken back.
        case redone
        /// A run was created.
        case opened(number: Int, because: String)
        /// A run is in another phase.
        case turned(number: Int, phase: RunPhase, at: WallTime)
        /// A run was removed.
        case forgotten(number: Int)
    }

    /// The reply to `build`.
    public struct Reply: Equatable, Sendable {
        /// The new run's number.
        public var number: Int
    }

    /// A project's state, for all mirrors.
    @ReactorState
    public struct State: Equatable, Sendable {
        /// The settings, with the earlier ones.
        public var settings: Undoable<ProjectSettings> = Undoable(ProjectSettings(), limit: 20)
        /// The number of the newest run.
        public var lastNumber = 0
        /// The kept runs by their numbers.
        public var lines: Keyed<Int, RunLine> = [:]

        /// Creates the state of a project without runs.
        public init() {}

        /// The numbers of the kept runs, the oldest first.
        public var numbers: [Int] { lines.keys.sorted() }
    }

    public func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .build(let reason):
            guard !state.settings.value.isPaused else {
                throw Rejection("paused", "\(name) is paused")
            }
            context.reply(Reply(number: state.lastNumber + 1))
            return opening(because: reason, state)
        case .nightly:
            return state.settings.value.isPaused ? .none : opening(because: "nightly", state)
        case .configure(let settings):
            try settings.check()
            return planning(settings, [.configured(settings, context.cause)], context)
        case .undo:
            try state.settings.checkUndo()
            return planning(state.settings.past.last?.value, [.undone], context)
        case .redo:
            try state.settings.checkRedo()
            return planning(state.settings.future.last?.value, [.redone], context)
        }
    }

    /// Adds a run, and removes the oldest ended run if there are too many.
    private func opening(because reason: String, _ state: State) -> Mutations<Mutation> {
        let number = state.lastNumber + 1
        let settings = state.settings.value
        let order = RunOrder(script: settings.script, deployScript: settings.deployScript)
        let mutations = Mutations(Mutation.opened(number: number, because: reason))
            .creating($runs, number)
            .also($runs, number, .opened(order))
        let ended = state.numbers.first { state.lines[$0]?.phase.isEnd == true }
        guard state.lines.count >= Self.runsMax, let ended else { return mutations }
        return mutations.removing($runs, ended)
    }

    /// Adds the plan of the nightly runs, or removes it.
    private func planning(
        _ settings: ProjectSettings?, _ mutations: Mutations<Mutation>,
        _ context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        guard let time = settings?.nightly else { return mutations.dropping(Self.nightlyPlan) }
        return mutations.scheduling(
            Self.nightlyPlan, every: .seconds(TimeOfDay.minutesADay * 60),
            first: time.delay(after: context.now), Action.nightly)
    }

    @Reacts(to: \Project.$runs)
    func changed(
        _ mutation: Run.Mutation, key: Int, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        guard let phase = mutation.nextPhase else { return .none }
        return [.turned(number: key, phase: phase, at: context.now)]
    }

    public func childrenChanged(
        _ change: ChildrenChange, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        change.removed(in: $runs).map { [.forgotten(number: $0)] } ?? .none
    }

    public func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .configured(let settings, let origin): state.settings.set(settings, by: origin)
        case .undone: state.settings.undo()
        case .redone: state.settings.redo()
        case .opened(let number, let reason):
            state.lastNumber = number
            state.lines[number] = RunLine(because: reason)
        case .turned(let number, let phase, let time):
            state.lines[number]?.phase = phase
            state.lines[number]?.turned = time
        case .forgotten(let number): state.lines[number] = nil
        }
    }
}
