import ReactorCore
import ReactorTesting
import Testing

/// Jobs, each of which one client performs within a time.
@Reactor
private struct JobCenter {
    @Children var jobs: (WireKey) -> Job

    init(isCareless: Bool = false) { jobs = { _ in Job(isCareless: isCareless) } }

    enum Action: Equatable, Sendable { case add }
    enum Mutation: Equatable, Sendable { case added }
    struct State: Equatable, Sendable { var last = 0 }

    func mutate(action: Action, state: State) throws(Rejection) -> Mutations<Mutation> {
        guard state.last < 5 else { throw Rejection("full", "five jobs are enough") }
        return Mutations(.added).creating($jobs, WireKey("\(state.last + 1)"))
    }

    func reduce(state: inout State, mutation: Mutation) { state.last += 1 }
}

/// A job; a careless one forgets to end its plan when it is finished.
@Reactor
private struct Job {
    var isCareless = false

    enum Action: Equatable, Sendable {
        case take
        case finish
        @WireInternal case expire
    }
    enum Mutation: Equatable, Sendable {
        case taken(by: UInt64)
        case left
    }
    struct State: Equatable, Sendable { var worker: UInt64? }

    var initialState: State { State() }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) throws(Rejection) -> Mutations<Mutation> {
        switch (action, state.worker) {
        case (.take, nil):
            context.own("worker")
            return Mutations(.taken(by: context.caller.connection))
                .scheduling("expire", after: .milliseconds(40), Action.expire)
        case (.finish, context.caller.connection?):
            context.disown("worker", connection: context.caller.connection)
            let mutations = Mutations(Mutation.left)
            return isCareless ? mutations : mutations.dropping("expire")
        case (.expire, let worker?):
            context.disown("worker", connection: worker)
            return [.left]
        default: throw Rejection("not_yours", "the job is another client's")
        }
    }

    func connectionEnded(
        _ owned: OwnedKeys, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        Mutations(.left).dropping("expire")
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .taken(let connection): state.worker = connection
        case .left: state.worker = nil
        }
    }
}

/// Drives ``SimulatedPlan`` and ``SimulatedOwner``; the code of the guide "Testing a whole
/// application" on them.
@Suite("Traffic that knows its client, and invariants over owned keys and plans")
struct SimulatedSenderTests {
    private let log = FailureLog()

    private func simulation(
        seed: UInt64, isCareless: Bool = false
    ) -> Simulation<JobCenter> {
        let simulation = Simulation(seed: seed, clients: 4, report: log.report) {
            JobCenter(isCareless: isCareless)
        }
        simulation.restartsMax = 1
        simulation.recoveriesMax = 2
        simulation.deathsMax = 2
        simulation.pauseMax = .milliseconds(10)
        simulation.traffic(toChildrenOf: "/jobs", of: Job.self, percent: 90) {
            random, client, path, job in
            if job.worker == nil { return .take }
            return client.ownedKeys(at: "\(path)").isEmpty ? nil : .finish
        }
        simulation.invariant(ofTree: "a job is owned exactly while a worker has it") { tree in
            tree.children(of: Job.self, at: "/jobs").allSatisfy { job in
                guard let owners = tree.owners(at: "\(job.path)"),
                    let plans = tree.plans(of: Job.self, at: "\(job.path)")
                else { return true }
                let worker = job.state.worker
                return owners.map(\.connection) == (worker.map { [$0] } ?? [])
                    && plans.map(\.action) == (worker == nil ? [] : [.expire])
            }
        }
        return simulation
    }

    @Test("keys and plans are as the states say, in every storm", arguments: 0..<8 as Range<UInt64>)
    func sound(seed: UInt64) {
        let simulation = simulation(seed: seed)
        var checkedCount = 0
        simulation.invariant(ofTree: "an owned key has its name, and a plan its time") { tree in
            for job in tree.children(of: Job.self, at: "/jobs") where job.state.worker != nil {
                guard let owners = tree.owners(at: "\(job.path)") else { continue }
                checkedCount += 1
                let plan = tree.plans(of: Job.self, at: "\(job.path)")?.first
                guard owners.map(\.key) == ["worker"], plan?.name == "expire", plan?.period == nil,
                    plan?.due.milliseconds ?? 0 >= 40
                else { return false }
            }
            return true
        }
        #expect(simulation.run(steps: 150) { _ in .add } == [], "seed \(seed)")
        #expect(checkedCount > 10, "seed \(seed)")
        #expect(log.texts == [])
    }

    @Test("a client that sends has a connection and a session, which remains when it reconnects")
    func identity() {
        let simulation = simulation(seed: 1)
        simulation.restartsMax = 0
        simulation.recoveriesMax = 0
        simulation.deathsMax = 0
        var sessions: [Int: Set<UInt64>] = [:]
        var connections: Set<UInt64> = []
        simulation.traffic(to: "/", of: JobCenter.self, percent: 10) { _, client in
            if let session = client.session { sessions[client.client, default: []].insert(session) }
            if let connection = client.connection { connections.insert(connection) }
            return .add
        }
        simulation.run(steps: 300) { _ in nil }
        #expect(sessions.count == 4 && sessions.values.allSatisfy { $0.count == 1 })
        #expect(Set(sessions.values.flatMap(\.self)).count == 4)
        #expect(connections.count > 4)
        #expect(log.texts == [])
    }

    @Test("a client's view has the plans of the daemon")
    func plansOfView() {
        let simulation = simulation(seed: 2)
        var plans: [SimulatedPlan<Job.Action>] = []
        simulation.invariant(ofClients: "the first job's plans are visible") { client in
            plans += client.plans(of: Job.self, at: "/jobs/1")
            return client.plans(of: JobCenter.self, at: "/jobs/1").isEmpty
        }
        simulation.run(steps: 100) { _ in .add }
        #expect(!plans.isEmpty && plans.allSatisfy { $0.action == .expire })
        #expect(log.texts == [])
    }

    @Test("a plan that outlives its reason is found")
    func careless() throws {
        let simulation = simulation(seed: 3, isCareless: true)
        simulation.run(steps: 300) { _ in .add }
        let text = try #require(log.texts.first)
        #expect(text.contains("\"a job is owned exactly while a worker has it\" does not hold"))
        #expect(text.contains(" sends finish to /jobs/"))
    }
}
