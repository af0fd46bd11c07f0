import DeployExample
import ReactorCore

/// The version before today's coordinator. It has no triggers, notes, announcements, statistics,
/// settings of projects and replies, and another name for the number of a project's newest run;
/// the rest is today's.
enum Former {
    @Reactor
    struct Coordinator {
        @Child var settings = Settings()
        @Child var workers = Workers()
        @Children var projects = { (name: String) in Project(name: name) }

        typealias Action = DeployExample.Coordinator.Action
        typealias Mutation = DeployExample.Coordinator.Mutation

        struct State: Equatable, Sendable {
            var names: [String] = []
            var waiting: [RunID] = []
            var running: [RunID] = []
        }

        func mutate(
            action: Action, state: State, context: ReactorContext<Self>
        ) throws(Rejection) -> Mutations<Mutation> {
            switch action {
            case .add(let name):
                return Mutations(.added(project: name)).creating($projects, name)
            case .release(let names):
                return names.reduce(.none) { mutations, name in
                    mutations.sending(.build(because: "release"), to: $projects[name])
                }
            case .assign:
                let limits = context.state(of: $settings)
                guard state.running.count < limits.runsMax, let run = state.waiting.first,
                    let worker = context.state(of: $workers).idle.first?.worker
                else { return .none }
                return Mutations(.started(run))
                    .sending(
                        .start(worker: worker, limits: limits),
                        to: $projects[run.project].$runs[run.number]
                    )
                    .sending(.give(run: run, to: worker), to: $workers)
            case .remove, .announce, .announced, .note, .openTrigger:
                throw Rejection("later", "a later version does that")
            }
        }

        @Reacts(to: \Former.Coordinator.$projects)
        func changed(
            _ mutation: Project.Mutation, key: String, context: ReactorContext<Self>
        ) -> Mutations<Mutation> {
            context.dispatch(.assign)
            switch mutation {
            case .opened(let number, _): return [.queued(RunID(project: key, number: number))]
            case .turned(let number, let phase, _):
                let run = RunID(project: key, number: number)
                switch phase {
                case .running, .deploying: return .none
                case .waiting: return [.queued(run)]
                case .pausing: return [.paused(run)]
                case .succeeded, .failed, .cancelled: return [.ended(run: run, phase: phase)]
                }
            case .configured, .undone, .redone, .signed, .forgotten, .succeeded: return .none
            }
        }

        @Reacts(to: \Former.Coordinator.$workers)
        func changed(
            _ mutation: Workers.Mutation, context: ReactorContext<Self>
        ) -> Mutations<Mutation> {
            context.dispatch(.assign)
            return .none
        }

        func reduce(state: inout State, mutation: Mutation) {
            switch mutation {
            case .added(let name): state.names = (state.names + [name]).sorted()
            case .queued(let run): state.waiting.append(run)
            case .started(let run):
                state.waiting.removeAll { $0 == run }
                state.running.append(run)
            case .paused(let run), .ended(let run, _):
                state.waiting.removeAll { $0 == run }
                state.running.removeAll { $0 == run }
            case .dropped, .announced, .noted, .silenced, .resumed: break
            }
        }
    }

    @Reactor
    struct Project {
        @Children var runs: (Int) -> Run

        init(name: String = "") {
            runs = { number in Run(RunID(project: name, number: number)) }
        }

        typealias Action = DeployExample.Project.Action
        typealias Mutation = DeployExample.Project.Mutation

        struct State: Equatable, Sendable {
            var newest = 0
            var lines: Keyed<Int, RunLine> = [:]
        }

        func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
            guard case .build(let reason) = action else {
                throw Rejection("later", "a later version does that")
            }
            let number = state.newest + 1
            return Mutations(.opened(number: number, because: reason)).creating($runs, number)
        }

        @Reacts(to: \Former.Project.$runs)
        func changed(
            _ mutation: Run.Mutation, key: Int, context: ReactorContext<Self>
        ) -> Mutations<Mutation> {
            let phase: RunPhase
            switch mutation {
            case .opened, .logged: return .none
            case .started: phase = .running
            case .paused: phase = .pausing
            case .queued: phase = .waiting
            case .built: phase = .deploying
            case .ended(let end, _): phase = end
            }
            return [.turned(number: key, phase: phase, at: context.now)]
        }

        func reduce(state: inout State, mutation: Mutation) {
            switch mutation {
            case .opened(let number, let reason):
                state.newest = number
                state.lines[number] = RunLine(because: reason)
            case .turned(let number, let phase, let time):
                state.lines[number]?.phase = phase
                state.lines[number]?.turned = time
            case .configured, .undone, .redone, .signed, .forgotten, .succeeded: break
            }
        }
    }
}
