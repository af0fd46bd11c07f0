import Glibc
import ReactorCore
import ReactorDaemonCommand

/// A daemon for the tests of a daemon's end: some of its effects do not end when they are told to.
@main
struct StubbornDaemon: DaemonCommand {
    static let abstract = "Serves effects that do not end."
    static var reactors: DaemonReactors { .root(Stubborn()) }
}

/// Begins effects by name, each of which says that it has begun.
@Reactor
struct Stubborn {
    enum Action: Equatable {
        /// Begins one that ends when it is told to.
        case obey(String)
        /// Begins one that does not hear that it is cancelled.
        case ignore(String)
        /// Begins one that blocks its thread for ever.
        case block(String)
        /// Has an effect emit many mutations at once.
        case flood(Int)
        /// Ends the process.
        case trap
    }

    enum Mutation: Equatable {
        case begun(String)
        case dripped
    }

    struct State: Equatable {
        var begun: [String] = []
        var drops = 0
    }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .obey(let name): begin(name) { clock in try await Self.wait(by: clock) }
        case .ignore(let name):
            begin(name) { clock in
                // because who waits for a task is not told that it is cancelled
                await Task.detached { while true { try? await Self.wait(by: clock) } }.value
            }
        case .block(let name): begin(name) { _ in while true { _ = pause() } }
        case .flood(let count):
            Mutations(async: Effect { emit in for _ in 0..<count { emit(.dripped) } })
        case .trap: preconditionFailure("told to")
        }
    }

    private func begin(
        _ name: String, _ work: @escaping @Sendable (TreeClock) async throws -> Void
    ) -> Mutations<Mutation> {
        Mutations(
            async: Effect(cancelID: name) { emit in
                emit(.begun(name))
                try await work(emit.clock)
            })
    }

    private static func wait(by clock: TreeClock) async throws {
        try await clock.sleep(for: .seconds(3_600))
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .begun(let name): state.begun.append(name)
        case .dripped: state.drops += 1
        }
    }
}
