import Testing

@testable import ReactorCore

@Suite("SagaChannel")
struct SagaChannelTests {
    @Test("F37: external values are taken in order, by any free saga")
    func external() throws {
        let bench = StoreBench(Tracker())
        let channel = SagaChannel<Int>(capacity: 3)
        #expect(channel.offer(1) && channel.offer(2) && channel.offer(3) && !channel.offer(4))
        for name in ["x", "y"] {
            _ = bench.run { saga in
                while let number = try await saga.take(from: channel) {
                    try await saga.put(.run("\(name) \(number)"))
                    try await saga.sleep(for: .seconds(number))
                }
                try await saga.put(.run("\(name) ends"))
            }
        }
        #expect(bench.state.runs == ["x 1", "x 3", "y 2"] || bench.state.runs == ["x 1", "y 2"])
        bench.advance(by: .seconds(4))
        #expect(bench.state.runs.count == 3)
        channel.close()
        bench.settle()
        #expect(bench.state.runs.suffix(2).sorted() == ["x ends", "y ends"])
    }

    // closing an event channel crashed SwiftState
    @Test("F37: closing a channel ends takes with nil, after the waiting values")
    func close() throws {
        let bench = StoreBench(Tracker())
        let channel = SagaChannel<Int>(capacity: 9)
        let waiting = bench.run { saga in try await saga.take(from: channel) }
        channel.offer(1)
        #expect(bench.outcome(of: waiting) == "Optional(1)")
        let empty = bench.run { saga in try await saga.take(from: channel) }
        channel.close()
        channel.close()
        #expect(bench.outcome(of: empty) == "nil")
        let full = SagaChannel<Int>(capacity: 9)
        full.offer(5)
        full.close()
        #expect(!full.offer(6))
        let rest = bench.run { saga in
            [try await saga.take(from: full), try await saga.take(from: full)]
        }
        #expect(bench.outcome(of: rest) == "[Optional(5), nil]")
    }

    @Test("F37: a take with a timeout, and a cancelled take, take nothing away from others")
    func givingUp() throws {
        let bench = StoreBench(Tracker())
        let channel = SagaChannel<Int>(capacity: 9)
        let timed = bench.run { saga in
            try await saga.take(from: channel, timeout: .seconds(1))
        }
        bench.advance(by: .seconds(1))
        #expect(bench.outcome(of: timed) == "nil")
        let cancelled = bench.run { saga in try await saga.take(from: channel) }
        cancelled.cancel()
        let last = bench.run { saga in try await saga.take(from: channel) }
        channel.offer(1)
        #expect(bench.outcome(of: last) == "Optional(1)")
        #expect(bench.outcome(of: cancelled) == "cancelled")
    }

    @Test("F37: a full channel refuses only its own actions as busy")
    func busy() throws {
        let bench = StoreBench(Tracker())
        let channels = Kept<SagaChannel<Int>>()
        let handle = bench.run { saga in
            let channel = try await saga.channel(of: Tracker.amount, capacity: 2)
            channels.keep(channel)
            _ = try await saga.take { $0 == .stop }
            var sum = 0
            while let amount = try await saga.take(from: channel) { sum += amount }
            return sum
        }
        try bench.send(.add(1), .add(2))
        #expect(
            throws: Rejection(
                .busy, "/: 2 actions wait for a saga, the maximum: try again")
        ) { try bench.send(.add(4)) }
        #expect(bench.state.sum == 3)
        try bench.send(.search("anything else"), .stop)
        try bench.send(.add(8))
        try #require(channels.all.first).close()
        bench.settle()
        #expect(bench.outcome(of: handle) == "11")
        for amount in 0..<5 { try bench.send(.add(amount)) }
        #expect(bench.state.sum == 21)
    }

    @Test("F37: a place reserved for a refused action is free again")
    func withdrawn() throws {
        let bench = StoreBench(Tracker())
        let channels = Kept<SagaChannel<Tracker.Action>>()
        _ = bench.run { saga in
            channels.keep(try await saga.channel(of: { $0 }, capacity: 1))
            try await saga.sleep(for: .seconds(9))
        }
        for _ in 0..<3 { #expect(throws: Rejection.self) { try bench.send(.refuse) } }
        let tree = bench.store.core.tree
        #expect(
            try tree.sendTogether([("/", Tracker.Action.add(1)), ("/", Tracker.Action.refuse)])
                == "rejected BUSY")
        #expect(tree.turn.effects.isEmpty)
        try bench.send(.add(1))
        #expect(try #require(channels.all.first).count == 1)
        #expect(throws: Rejection.self) { try bench.send(.add(1)) }
        #expect(bench.state.sum == 1)
    }

    @Test("F37: a newly opened channel contains values since the saga's last resumption")
    func sinceResumption() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.store.runSaga { saga in
            let channel = try await saga.channel(of: Tracker.amount, capacity: 2)
            var amounts: [Int] = []
            for _ in 0..<4 { amounts.append(try await saga.take(from: channel) ?? -1) }
            return amounts
        }
        for amount in 0..<3 { try bench.store.dispatch(.add(amount)) }
        bench.settle()
        try bench.send(.add(3))
        #expect(bench.outcome(of: handle) == "[0, 1, 2, 3]")
    }

    @Test("F37: a channel ends with its saga")
    func ends() throws {
        let bench = StoreBench(Tracker())
        let channels = Kept<SagaChannel<Int>>()
        let handle = bench.run { saga in
            channels.keep(try await saga.channel(of: Tracker.amount, capacity: 1))
            try await saga.sleep(for: .seconds(9))
        }
        try bench.send(.add(1))
        handle.cancel()
        bench.settle()
        for _ in 0..<3 { try bench.send(.add(1)) }
        #expect(try #require(channels.all.first).isClosed)
    }
}
