import Testing

@testable import ReactorCore

@Suite("SagaSource+Channels")
struct SagaSourceChannelsTests {
    private static let added: @Sendable (Tracker.Mutation) -> Int? = {
        if case .added(let amount) = $0 { amount } else { nil }
    }

    @Test("F37: a saga that opens channels in a loop keeps none that it released or closed")
    func loops() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            for _ in 0..<50 {
                let dropped = try await saga.channel(of: Tracker.amount, capacity: 1)
                let closed = try await saga.channel(of: Tracker.amount, capacity: 1)
                // A retained full channel would refuse the next action.
                try await saga.put(.add(1))
                closed.close()
                _ = dropped.count
            }
            _ = try await saga.take { $0 == .stop ? true : nil }
        }
        #expect(handle.isRunning && bench.state.sum == 50)
        #expect(handle.scope.keptCount == 1)
        #expect(SagaRunner.broker(at: bench.store.node)?.listenerCount == 1)
        try bench.send(.add(1))
        #expect(bench.state.sum == 51)
    }

    @Test("F37: mutations cannot be refused: a full channel of them ends, with an error after them")
    func overrun() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            let channel = try await saga.mutations.channel(of: Self.added, capacity: 2)
            _ = try await saga.take { $0 == .stop ? true : nil }
            var sum = 0
            do {
                while let amount = try await saga.take(from: channel) { sum += amount }
                return "\(sum)"
            } catch {
                return "\(sum), \(error)"
            }
        }
        try bench.send(.add(1), .add(2), .add(4), .add(8), .stop)
        #expect(bench.outcome(of: handle) == "3, \(SagaError.overrun(path: "/", capacity: 2))")
        #expect(bench.state.sum == 15)
    }

    @Test("F37: a saga that takes mutations in time loses none, however small the channel")
    func inTime() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            let channel = try await saga.mutations.channel(of: Self.added, capacity: 1)
            var sum = 0
            for _ in 0..<5 { sum += try await saga.take(from: channel) ?? 0 }
            return sum
        }
        for amount in 1...5 { try bench.send(.add(amount)) }
        #expect(bench.outcome(of: handle) == "15")
    }

    @Test("F37: a place reserved for an action is returned if the action is refused, and only then")
    func places() throws {
        let bench = StoreBench(Tracker())
        let channels = Kept<SagaChannel<Int>>()
        let everything = Kept<SagaChannel<Tracker.Action>>()
        _ = bench.run { saga in
            channels.keep(try await saga.channel(of: Tracker.amount, capacity: 2))
            everything.keep(try await saga.channel(of: { $0 }, capacity: 2))
            try await saga.sleep(for: .seconds(9))
        }
        let refusal = Rejection("refused", "not this one")
        for _ in 0..<3 { #expect(throws: refusal) { try bench.send(.refuse) } }
        let tree = bench.store.core.tree
        #expect(
            try tree.sendTogether([("/", Tracker.Action.add(1)), ("/", Tracker.Action.refuse)])
                == "rejected refused")
        try bench.send(.add(1), .add(2))
        #expect(throws: Rejection.self) { try bench.send(.add(4)) }
        #expect(channels.all.first?.count == 2 && everything.all.first?.count == 2)
    }
}
