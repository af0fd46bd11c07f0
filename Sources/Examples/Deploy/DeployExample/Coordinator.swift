import Foundation
public import ReactorCore
import ReactorFoundation

/// A build and deploy coordinator for one host: projects with their runs, the workers that perform
/// the runs, and a limit for all of them together.
///
///     /                        the queue
///     /settings                the limits
///     /workers                 the connected workers
///     /projects/web            a project
///     /projects/web/runs/7     a run
///     /projects/web/targets/production   what is deployed there
///     /projects/web/stats      its runs in numbers
///     /triggers/e621e1f8-c36c-495a-93fc-0c247a3e6e5f   a token that builds a project
///     /stats                   all projects and runs in numbers
///
/// A run waits in the queue until the limit has room and a worker asks for work; `assign` decides
/// the starts that are possible, in one transaction.
@Reactor
public struct Coordinator {
    /// Maximum number of notes; the oldest are dropped.
    public static let notesMax = 100

    /// The limits: `/settings`.
    @Child public var settings = Settings()
    /// The connected workers: `/workers`.
    @Child public var workers = Workers()
    /// The projects by their names: `/projects/web`.
    @Children public var projects: (String) -> Project
    /// The tokens that build projects.
    @Children var triggers = { (_: UUID) in Trigger() }
    /// The projects and the runs in numbers: `/stats`.
    @Derived public var stats = Derivation(
        DeployStats.self, over: \Coordinator.$projects, parts: \Project.$stats)
    let hooks: Hooks

    /// Creates a coordinator that reaches the outside through `hooks`.
    public init(hooks: Hooks = .none) {
        self.hooks = hooks
        projects = { name in Project(name: name, hooks: hooks) }
    }

    /// A request to the coordinator.
    public enum Action: Equatable, Sendable {
        /// Adds a project without a script.
        case add(project: String)
        /// Removes a project with all its runs, unless one of them runs.
        case remove(project: String)
        /// Builds several projects, or none: if one of them refuses, nothing happens.
        case release([String])
        /// Creates a token that builds a project; the reply has it.
        case openTrigger(project: String)
        /// Announces ended runs again, after the announcements have stopped.
        case announce
        /// Starts waiting runs, as far as there are room and workers.
        @WireInternal case assign
        /// An announcement has left the host.
        @WireInternal case announced(RunID)
        /// A reactor below reports what a person may want to know.
        @WireInternal case note(String)
    }

    /// A change of the coordinator.
    public enum Mutation: Equatable, Sendable {
        /// A project was added.
        case added(project: String)
        /// A project was removed, with its runs.
        case dropped(project: String)
        /// A run waits for a worker.
        case queued(RunID)
        /// A waiting run was given to a worker.
        case started(RunID)
        /// A run lost its worker and pauses before it waits again.
        case paused(RunID)
        /// A run has ended.
        case ended(run: RunID, phase: RunPhase)
        /// An announcement has left the host.
        case announced(RunID)
        /// Something happened that a person may want to know.
        case noted(String)
        /// The announcements have stopped, with the last error.
        case silenced(String)
        /// The announcements have started again.
        case resumed
    }

    /// The reply to `openTrigger`.
    public struct Reply: Equatable, Sendable {
        /// The token: the trigger's key.
        public var trigger: String
    }

    /// The coordinator's state, for all mirrors; the states of projects and runs are not in it.
    @ReactorState
    public struct State: Equatable, Sendable {
        /// The names of the projects, sorted.
        public var names: [String] = []
        /// The runs that wait for a worker, the longest waiting first.
        public var waiting: [RunID] = []
        /// The runs that a worker builds or the daemon deploys, the oldest first.
        public var running: [RunID] = []
        /// The ended runs that are still to be announced, the oldest first; none is dropped.
        public var announcements: [Announcement] = []
        /// The error after which the announcements have stopped; nil while they go on.
        public var silence: String?
        /// What a person may want to know, the oldest first.
        public var notes: [String] = []

        /// Creates a state without projects.
        public init() {}
    }

    public func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let name):
            try name.checkProjectName()
            return Mutations.none.creating($projects, name)
        case .remove(let name):
            guard context.state(of: $projects, name) != nil else { throw .noProject(name) }
            guard !state.running.contains(where: { $0.project == name }) else {
                throw Rejection("busy", "a run of \(name) is running: cancel it first")
            }
            return removing(name, context)
        case .release(let names):
            return names.reduce(.none) { mutations, name in
                mutations.sending(.build(because: "release"), to: $projects[name])
            }
        case .openTrigger(let name):
            guard context.state(of: $projects, name) != nil else { throw .noProject(name) }
            guard context.keys(of: $triggers).count < Self.triggersMax else {
                throw Rejection("too_many", "there are \(Self.triggersMax) triggers, the most")
            }
            return openingTrigger(of: name, context)
        case .announce:
            guard state.silence != nil else {
                throw Rejection("not_silent", "the announcements have not stopped")
            }
            return [.resumed]
        case .assign: return assign(state, context)
        case .announced(let run): return [.announced(run)]
        case .note(let text): return [.noted(text)]
        }
    }

    @Reacts(to: \Coordinator.$projects)
    func changed(
        _ mutation: Project.Mutation, key: String, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        switch mutation {
        case .opened(let number, _):
            context.dispatch(.assign)
            return [.queued(RunID(project: key, number: number))]
        case .turned(let number, let phase, _):
            return turned(RunID(project: key, number: number), phase, context)
        case .configured, .undone, .redone, .signed, .forgotten, .succeeded: return .none
        }
    }

    @Reacts(to: \Coordinator.$workers)
    func changed(
        _ mutation: Workers.Mutation, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        if case .asked = mutation { context.dispatch(.assign) }
        return .none
    }

    @Reacts(to: \Coordinator.$settings)
    func changed(
        _ mutation: Settings.Action, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        context.dispatch(.assign)
        return .none
    }

    public func reduce(state: inout State, mutation: Mutation) { state.apply(mutation) }
}
