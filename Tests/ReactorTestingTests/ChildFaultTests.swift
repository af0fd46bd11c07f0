import ReactorCore
import ReactorTesting
import Testing

/// Works for a second, or fails; counts its starts.
@Reactor
struct Worker {
    enum Action: Equatable, Sendable {
        case work
        case fail
    }

    enum Mutation: Equatable, Sendable {
        case begun
        case worked
    }

    struct State: Equatable, Sendable {
        var starts = 0
        var done = 0
    }

    struct Fault: Error, CustomStringConvertible {
        var description: String { "out of order" }
    }

    func start(state: State) -> Mutations<Mutation> { [.begun] }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .work: Mutations(async: .after(.seconds(1), .worked))
        case .fail: Mutations(async: Effect { _ in throw Fault() })
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .begun: state.starts += 1
        case .worked: state.done += 1
        }
    }
}

/// A reactor that has workers, and applies a policy to a failed worker.
@Reactor
struct Foreman {
    @Children var workers = { (_: WireKey) in Worker() }

    @WireCodable
    enum Policy: Equatable, Sendable {
        case leave
        case restart
        case dismiss
    }

    enum Action: Equatable, Sendable {
        case hire(Int)
        case follow(Policy)
    }

    enum Mutation: Equatable, Sendable {
        case followed(Policy)
        case failed(String)
    }

    struct State: Equatable, Sendable {
        var policy: Policy = .leave
        var failures: [String] = []
    }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .hire(let count):
            var mutations = Mutations<Mutation>.none
            for number in 0..<count {
                mutations = mutations.creating($workers, WireKey("\(number)"))
            }
            return mutations
        case .follow(let policy): return [.followed(policy)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .followed(let policy): state.policy = policy
        case .failed(let name): state.failures.append(name)
        }
    }

    func childFailed(_ failure: ChildFailure, state: State) -> Mutations<Mutation> {
        guard let key = failure.key(in: $workers) else { return .none }
        let noted = Mutations(Mutation.failed(key.text))
        return switch state.policy {
        case .leave: noted
        case .restart: noted.restarting($workers, key)
        case .dismiss: noted.removing($workers, key)
        }
    }
}

@Suite("A failed child among a thousand")
struct ChildFaultTests {
    private let store = TestStore(Foreman())

    /// A foreman with a thousand workers, all at work except the first.
    private func begin(_ policy: Foreman.Policy) {
        store.send(.follow(policy)) { $0.policy = policy }
        store.send(.hire(1_000))
        store.skipAll()
        for number in 1..<1_000 {
            store.send(.work, to: Worker.self, at: "/workers/\(number)")
        }
    }

    private func worker(_ number: Int) throws -> Node<Worker>? {
        try store.tree.node(at: SlicePath("/workers/\(number)")) as? Node<Worker>
    }

    /// Lets the siblings finish: each completes its work without a fault.
    private func finish() throws {
        store.advance(by: .seconds(1))
        for number in 1..<1_000 {
            store.receive(.worked, of: Worker.self, at: "/workers/\(number)") { $0.done = 1 }
            #expect(try worker(number)?.fault == nil)
        }
        store.finish()
    }

    @Test(
        "R105: only the failed child is marked as faulted; its parent is informed, siblings work on"
    )
    func leave() throws {
        begin(.leave)
        store.send(.fail, to: Worker.self, at: "/workers/0")
        store.receive(problem: "out of order")
        store.receive(.failed("0")) { $0.failures = ["0"] }
        #expect(try worker(0)?.fault == "out of order")
        store.send(.work, to: Worker.self, at: "/workers/0")
        store.advance(by: .seconds(1))
        store.skipAll()
        #expect(try worker(0)?.state == Worker.State(starts: 1, done: 1))
        store.finish()
    }

    @Test("R105: the parent restarts the child from its current state")
    func restart() throws {
        begin(.restart)
        store.send(.fail, to: Worker.self, at: "/workers/0")
        store.receive(problem: "out of order")
        store.receive(.failed("0")) { $0.failures = ["0"] }
        store.expect(Worker.self, at: "/workers/0", mutations: [.begun]) { $0.starts = 2 }
        #expect(try worker(0)?.fault == nil)
        try finish()
    }

    @Test("R105: the parent removes the child")
    func dismiss() throws {
        begin(.dismiss)
        store.send(.fail, to: Worker.self, at: "/workers/0")
        store.receive(problem: "out of order")
        store.receive(.failed("0")) { $0.failures = ["0"] }
        store.expect(
            children: (1..<1_000).map { WireKey("\($0)") }.sorted(), at: "/workers")
        #expect(try worker(0) == nil)
        try finish()
    }
}
