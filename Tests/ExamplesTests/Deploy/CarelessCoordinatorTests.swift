import DeployExample
import ReactorCore
import ReactorTesting
import Testing

/// A coordinator with a wrong rule: it starts a run if as many run as the limit permits.
@Reactor
private struct CarelessCoordinator {
    static let runsMax = 2

    @Child var workers = Workers()
    @Children var projects = { (name: String) in Project(name: name) }

    enum Action: Equatable, Sendable {
        case add(project: String)
        @WireInternal case assign
    }
    enum Mutation: Equatable, Sendable {
        case queued(RunID)
        case started(RunID)
        case ended(RunID)
    }
    struct State: Equatable, Sendable {
        var waiting: [RunID] = []
        var running: [RunID] = []
    }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .add(let name): return Mutations.none.creating($projects, name)
        case .assign:
            guard state.running.count <= Self.runsMax, let run = state.waiting.first,
                let worker = context.state(of: $workers).idle.first?.worker
            else { return .none }
            return Mutations(.started(run))
                .sending(
                    .start(worker: worker, limits: Settings.State()),
                    to: $projects[run.project].$runs[run.number]
                )
                .sending(.give(run: run, to: worker), to: $workers)
        }
    }

    @Reacts(to: \CarelessCoordinator.$projects)
    func changed(
        _ mutation: Project.Mutation, key: String, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        context.dispatch(.assign)
        switch mutation {
        case .opened(let number, _): return [.queued(RunID(project: key, number: number))]
        case .turned(let number, let phase, _) where phase.isEnd || phase == .pausing:
            return [.ended(RunID(project: key, number: number))]
        default: return .none
        }
    }

    @Reacts(to: \CarelessCoordinator.$workers)
    func changed(
        _ mutation: Workers.Mutation, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        context.dispatch(.assign)
        return .none
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .queued(let run): state.waiting.append(run)
        case .started(let run):
            state.waiting.removeAll { $0 == run }
            state.running.append(run)
        case .ended(let run):
            state.waiting.removeAll { $0 == run }
            state.running.removeAll { $0 == run }
        }
    }
}

@Suite("A simulation of a coordinator with a wrong rule")
struct CarelessCoordinatorTests {
    @Test("the simulation finds the run too many, and shows the few steps that lead to it")
    func found() throws {
        let log = FailureLog()
        let simulation = Simulation(seed: 3, clients: 4, report: log.report) {
            CarelessCoordinator()
        }
        DeploySimulation.addTraffic(to: simulation)
        simulation.invariant("never more runs than the limit") {
            $0.running.count <= CarelessCoordinator.runsMax
        }
        #expect(simulation.run(steps: 300) { _ in .add(project: "p0") } != [])
        let text = try #require(log.texts.first)
        #expect(text.contains("\"never more runs than the limit\" does not hold"))
        // A project, three runs and three requests of workers are needed; chance may add some.
        let steps = text.split(separator: "\n").filter { $0.contains(", client ") }
        #expect((7...12).contains(steps.count), "\(text)")
    }
}
