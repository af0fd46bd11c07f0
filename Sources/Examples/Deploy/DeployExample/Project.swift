public import Foundation
public import ReactorCore
import ReactorFoundation

/// A project: what to run for it, and its last runs.
@Reactor
public struct Project {
    /// Maximum number of runs that a project keeps; a new run removes the oldest ended one.
    public static let runsMax = 20
    private static let nightlyPlan = "nightly"

    /// The runs by their numbers: `/projects/web/runs/7`.
    @Children public var runs: (Int) -> Run
    /// What is deployed where: `/projects/web/targets/production`.
    @Children public var targets = { (_: Environment) in Target() }
    /// The kept runs by what they do: `/projects/web/stats`.
    @Derived public var stats = Derivation(RunStats.self, over: \Project.$runs) { $0.phase }

    /// Creates a project; a mirror needs neither a name nor hooks.
    public init(name: String = "", hooks: Hooks = .none) {
        runs = { number in Run(RunID(project: name, number: number), hooks: hooks) }
    }

    /// A request to a project.
    public enum Action: Equatable, Sendable {
        /// Queues a run; the reply is its number.
        case build(because: String = "asked")
        /// Replaces the settings.
        case configure(ProjectSettings)
        /// Refuses new runs from here on; the other settings remain.
        case pause
        /// Takes back the last change of the settings, whichever client made it.
        case undo
        /// Takes back the last change of the settings, if the caller's user made it.
        case undoOwn
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
        /// A user has changed the settings, or taken back a change.
        case signed(SettingsChange)
        /// A run was created.
        case opened(number: Int, because: String)
        /// A run is in another phase.
        case turned(number: Int, phase: RunPhase, at: WallTime)
        /// A run was removed.
        case forgotten(number: Int)
        /// A run has succeeded.
        case succeeded(at: WallTime)
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
        public var settings = Undoable<ProjectSettings>(ProjectSettings(), limit: 20)
        /// The number of the newest run; `newest` in an earlier version.
        @WireAlias("newest") public var lastNumber = 0
        /// The last change of the settings; nil before the first.
        public var lastChange: SettingsChange?
        // Not public: generated code for public fields alone is inlinable, and would need a public
        // import of ReactorFoundation, which the compiler takes for unused.
        var successDate: Date?
        /// The kept runs by their numbers.
        public var lines: Keyed<Int, RunLine> = [:]

        /// Creates the state of a project without runs.
        public init() {}

        /// When a run last succeeded; nil if none has.
        public var lastSuccess: Date? { successDate }

        /// The numbers of the kept runs, the oldest first.
        public var numbers: [Int] { lines.keys.sorted() }
    }

    public func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .build(let reason):
            guard !state.settings.value.isPaused else {
                let name = name(context)
                throw Rejection(
                    "paused", "\(name) is paused: continue it with deploy set \(name) --no-paused")
            }
            context.reply(Reply(number: state.lastNumber + 1))
            return opening(because: reason, state)
        case .nightly:
            return state.settings.value.isPaused ? .none : opening(because: "nightly", state)
        case .configure(let settings):
            try settings.check()
            return configuring(settings, context)
        case .pause:
            var settings = state.settings.value
            guard !settings.isPaused else { return .none }
            settings.isPaused = true
            return configuring(settings, context)
        case .undo, .undoOwn:
            try state.settings.checkUndo()
            if action == .undoOwn { try state.settings.value.checkAuthor(context.caller) }
            return planning(state.settings.past.last?.value, .undone, context)
        case .redo:
            try state.settings.checkRedo()
            return planning(state.settings.future.last?.value, .redone, context)
        }
    }

    /// Adds a run, and removes the oldest ended run if there are too many.
    private func opening(because reason: String, _ state: State) -> Mutations<Mutation> {
        let number = state.lastNumber + 1
        let settings = state.settings.value
        let order = RunOrder(
            script: settings.script, deployScript: settings.deployScript,
            environment: settings.environment)
        let mutations = Mutations(Mutation.opened(number: number, because: reason))
            .creating($runs, number)
            .also($runs, number, .opened(order))
        let ended = state.numbers.first { state.lines[$0]?.phase.isEnd == true }
        guard state.lines.count >= Self.runsMax, let ended else { return mutations }
        return mutations.removing($runs, ended)
    }

    /// Sets the settings as those of the caller's user.
    private func configuring(
        _ settings: ProjectSettings, _ context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        var settings = settings
        settings.author = context.caller.uid
        return planning(settings, .configured(settings, context.cause), context)
    }

    /// Changes the settings, notes the caller's user, and adds the plan of the nightly runs, or
    /// removes it.
    private func planning(
        _ settings: ProjectSettings?, _ mutation: Mutation, _ context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        // A mutation by itself: histories of earlier builds have no users.
        let change = SettingsChange(uid: context.caller.uid, at: context.now)
        let mutations: Mutations<Mutation> = [mutation, .signed(change)]
        guard let time = settings?.nightly else { return mutations.dropping(Self.nightlyPlan) }
        return mutations.scheduling(
            Self.nightlyPlan, every: .seconds(86_400),
            first: time.delay(after: context.now), Action.nightly)
    }

    @Reacts(to: \Project.$runs)
    func changed(
        _ mutation: Run.Mutation, key: Int, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        guard let phase = mutation.nextPhase else { return .none }
        let turned = Mutation.turned(number: key, phase: phase, at: context.now)
        guard phase == .succeeded else { return [turned] }
        if let next = state.settings.value.next {
            let run = RunID(project: name(context), number: key)
            context.dispatch(.build(because: "after \(run)"), toNearest: Coordinator.self) {
                $0.$projects[next]
            }
        }
        // A mutation by itself: histories of earlier builds have `turned`, and no date.
        let mutations: Mutations<Mutation> = [turned, .succeeded(at: context.now)]
        guard let order = context.state(of: $runs, key)?.order, order.deployScript != nil else {
            return mutations
        }
        return
            mutations
            .ensuring($targets, order.environment)
            .also($targets, order.environment, .deployed(run: key, at: context.now))
    }

    public func childrenChanged(
        _ change: ChildrenChange, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        change.removed(in: $runs).map { [.forgotten(number: $0)] } ?? .none
    }

    /// Reports what was not carried out, such as the build of a next project, which changes nothing
    /// here.
    public func followerRejected(
        _ refusal: FollowerRefusal, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        // A refused report is not reported again.
        guard refusal.actionName != "note" else { return .none }
        let subject = refusal.actionName == "build" ? "next project" : "\(refusal.path)"
        context.dispatch(
            .note("\(subject): \(refusal.rejection.message)"), toNearest: Coordinator.self)
        return .none
    }

    /// The key that the coordinator gave to this project.
    private func name(_ context: ReactorContext<Self>) -> String { context.key() ?? "" }

    public func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .configured(let settings, let origin): state.settings.set(settings, by: origin)
        case .undone: state.settings.undo()
        case .redone: state.settings.redo()
        case .signed(let change): state.lastChange = change
        case .opened(let number, let reason):
            state.lastNumber = number
            state.lines[number] = RunLine(because: reason)
        case .turned(let number, let phase, let time):
            state.lines[number]?.phase = phase
            state.lines[number]?.turned = time
        case .forgotten(let number): state.lines[number] = nil
        case .succeeded(let time): state.successDate = Date(time)
        }
    }
}

extension Date {
    /// The same time, to the millisecond.
    init(_ time: WallTime) { self.init(timeIntervalSince1970: Double(time.milliseconds) / 1_000) }
}
