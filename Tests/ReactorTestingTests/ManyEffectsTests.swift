import ReactorClient
import ReactorCore
import ReactorTesting
import ReactorThreads
import Testing

/// Holds effects until all of them have begun.
private final class Gate: Sendable {
    private struct Waiting {
        var continuations: [CheckedContinuation<Void, Never>] = []
        var isOpen = false
    }

    private let waiting = Guarded(Waiting())

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = waiting.withLock { waiting in
                if !waiting.isOpen { waiting.continuations.append(continuation) }
                return waiting.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let continuations = waiting.withLock { waiting in
            waiting.isOpen = true
            return waiting.continuations
        }
        for continuation in continuations { continuation.resume() }
    }
}

/// A reactor with an effect for each action, which begins and then waits at a gate.
@Reactor
private struct Crowd {
    let gate: Gate

    enum Action: Equatable { case enter }
    enum Mutation: Equatable {
        case entered
        case begun
        case passed
    }
    struct State: Equatable {
        var entered = 0
        var begun = 0
        var passed = 0
    }

    func mutate(action: Action) -> Mutations<Mutation> {
        Mutations(
            sync: [.entered],
            async: Effect { [gate] emit in
                emit(.begun)
                await gate.pass()
                emit(.passed)
            })
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .entered: state.entered += 1
        case .begun: state.begun += 1
        case .passed: state.passed += 1
        }
    }
}

@Suite("Many effects in a daemon", .timeLimit(.minutes(10)))
struct ManyEffectsTests {
    @Test("R101: ten thousand actions of a client are applied, and their effects run at once")
    func atOnce() async throws {
        let count = 10_000
        let gate = Gate()
        let daemon = try LiveDaemon(Crowd(gate: gate))
        let client = try await Client.connect(to: daemon.path)
        let crowd = try await client.mirror(Crowd(gate: gate), at: "/")
        for _ in 0..<count where !crowd.send(.enter) {
            // The queue is full: wait for this action.
            try await crowd.dispatch(.enter).get()
        }
        for await state in crowd.states() where state.begun == count { break }
        #expect(crowd.state == Crowd.State(entered: count, begun: count))
        gate.open()
        for await state in crowd.states() where state.passed == count { break }
        #expect(crowd.state == Crowd.State(entered: count, begun: count, passed: count))
        client.close()
    }
}
