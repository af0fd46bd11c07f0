import DeployExample
import ReactorClient
import ReactorCore
import ReactorTesting
import Testing

/// A coordinator in memory, with an operator who sends actions, and with workers.
final class DeployBench {
    let daemon: TestDaemon
    private let user: TestClient

    init(hooks: Hooks = .none) {
        daemon = TestDaemon(Coordinator(hooks: hooks))
        user = daemon.connect()
    }

    /// Connects a worker, which does nothing until it asks.
    func worker(_ name: String) -> BenchWorker { BenchWorker(name, of: daemon) }

    /// Sends an action, and returns its outcome.
    func send(_ action: some WireCodable, to path: String = "/") throws -> ActionOutcome {
        try user.dispatch(action, to: path)
    }

    /// Sends an action that must be applied.
    func apply(
        _ action: some WireCodable, to path: String = "/",
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let outcome = try user.dispatch(action, to: path)
        #expect(outcome.revision != nil, "\(outcome)", sourceLocation: location)
    }

    /// Sends an action that must be rejected; returns the rejection.
    func refusal(of action: some WireCodable, to path: String = "/") throws -> Rejection {
        switch try user.dispatch(action, to: path) {
        case .rejected(let rejection): return rejection
        case let outcome: throw UnexpectedOutcome(outcome: outcome)
        }
    }

    /// Adds a project with these settings, and queues runs of it.
    func add(
        _ project: String, runs: Int = 0, _ change: (inout ProjectSettings) -> Void = { _ in }
    ) throws {
        try apply(Coordinator.Action.add(project: project))
        var settings = ProjectSettings()
        change(&settings)
        try apply(Project.Action.configure(settings), to: "/projects/\(project)")
        for _ in 0..<runs { try build(project) }
    }

    func build(_ project: String) throws {
        try apply(Project.Action.build(), to: "/projects/\(project)")
    }

    // MARK: States

    var queue: Coordinator.State {
        get throws { try #require(daemon.state(of: Coordinator.self)) }
    }

    func project(_ name: String) throws -> Project.State {
        try #require(daemon.state(of: Project.self, at: "/projects/\(name)"))
    }

    func run(_ id: RunID) throws -> Run.State {
        try #require(daemon.state(of: Run.self, at: "\(id.path.path)"))
    }
}

/// An outcome that a test does not expect.
struct UnexpectedOutcome: Error { var outcome: ActionOutcome }

/// A worker of a ``DeployBench``.
final class BenchWorker {
    private let name: String
    private let client: TestClient
    /// The runs that it got, in order.
    private(set) var runs: [RunID] = []
    /// The other outcomes of its requests.
    private(set) var others: [ActionOutcome] = []

    init(_ name: String, of daemon: TestDaemon) {
        self.name = name
        client = daemon.connect()
    }

    /// Asks for a run; the answer may come later.
    func ask() throws {
        try client.perform(Workers.Action.next(name: name), to: "/workers") { [weak self] outcome in
            if case .applied(_, let reply?) = outcome,
                let run = try? reply.decode(as: Workers.Reply.self).run
            {
                self?.runs.append(run)
            } else {
                self?.others.append(outcome)
            }
        }
    }

    /// Reports the end of its last run's script; returns the outcome.
    @discardableResult
    func finish(exitCode: Int32 = 0) throws -> ActionOutcome {
        let run = try #require(runs.last)
        return try client.dispatch(
            Run.Action.finish(exitCode: exitCode), to: "\(run.path.path)")
    }

    /// Ends its connection.
    func die() { client.close() }
}

extension RunID {
    /// A run of the project `web`.
    static func web(_ number: Int) -> RunID { RunID(project: "web", number: number) }
}
