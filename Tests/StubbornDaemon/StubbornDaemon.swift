import Glibc
import Metrics
import ReactorCore
import ReactorDaemonCommand

/// A daemon for the tests of the shutdown: some of its effects do not end when they are
/// cancelled.
@main
struct StubbornDaemon: DaemonCommand {
    static let abstract = "Serves effects that do not end."
    static var reactors: DaemonReactors { .root(Stubborn()) }
}

/// Starts named effects; each reports its start in the state.
@Reactor
struct Stubborn {
    enum Action: Equatable {
        /// Starts an effect that ends when it is cancelled.
        case obey(String)
        /// Starts an effect that ignores its cancellation.
        case ignore(String)
        /// Starts an effect that blocks its thread forever.
        case block(String)
        /// Starts an effect that emits many mutations at once.
        case flood(Int)
        /// Ends the process.
        case trap
        /// Never returns.
        case hang
        /// Keeps a secret.
        @WireSecret case whisper(String)
        /// Keeps a secret of a person.
        case tell(Note)
    }

    @WireCodable
    struct Note: Equatable {
        var name: String
        @WireSecret var text: String
    }

    enum Mutation: Equatable {
        case begun(String)
        case dripped
        case told(Note)
    }

    struct State: Equatable {
        var begun: [String] = []
        var drops = 0
        var notes: [Note] = []
    }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .obey(let name): begin(name) { clock in try await Self.wait(by: clock) }
        case .ignore(let name):
            begin(name) { clock in
                // A detached task is not cancelled with the task that awaits it.
                await Task.detached { while true { try? await Self.wait(by: clock) } }.value
            }
        case .block(let name): begin(name) { _ in while true { _ = pause() } }
        case .flood(let count):
            Mutations(async: Effect { emit in for _ in 0..<count { emit(.dripped) } })
        case .trap: preconditionFailure("told to")
        case .hang: Self.hang()
        case .whisper(let text): [.told(Note(name: "", text: text))]
        case .tell(let note): [.told(note)]
        }
    }

    private func begin(
        _ name: String, _ work: @escaping @Sendable (TreeClock) async throws -> Void
    ) -> Mutations<Mutation> {
        Counter(label: "stubborn.effects").increment()
        return Mutations(
            async: Effect(cancelID: name) { emit in
                emit(.begun(name))
                try await work(emit.clock)
            })
    }

    private static func hang() -> Never { while true { _ = pause() } }

    private static func wait(by clock: TreeClock) async throws {
        try await clock.sleep(for: .seconds(3_600))
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .begun(let name): state.begun.append(name)
        case .dripped: state.drops += 1
        case .told(let note): state.notes.append(note)
        }
    }
}
