import Testing

@testable import ReactorCore

@Suite("SagaSource")
struct SagaSourceTests {
    @Test("F35: take by case, by predicate, and whatever comes next")
    func forms() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            let amount = try await saga.take(Tracker.amount)
            let stop = try await saga.take { $0 == .stop }
            let next = try await saga.take()
            let text = try await saga.take { if case .search(let text) = $0 { text } else { nil } }
            return "\(amount) \(stop) \(next) \(text)"
        }
        try bench.send(.search("no"), .add(1))
        try bench.send(.add(2), .stop)
        try bench.send(.add(3))
        try bench.send(.add(4), .search("tea"))
        #expect(bench.outcome(of: handle) == "1 stop add(3) tea")
    }

    // SwiftState's take had room for one action, and forgot the older when a second came
    @Test("F35: actions that come between two takes are there for the next, in order")
    func burst() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            var amounts: [Int] = []
            while amounts.count < 500 { amounts.append(try await saga.take(Tracker.amount)) }
            return amounts == Array(0..<500)
        }
        for amount in 0..<500 { try bench.store.dispatch(.add(amount)) }
        bench.settle()
        #expect(bench.outcome(of: handle) == "true")
    }

    @Test("F35: actions that come while a saga waits for something else are not")
    func asleep() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            try await saga.sleep(for: .seconds(1))
            return try await saga.take(Tracker.amount)
        }
        try bench.send(.add(1))
        bench.advance(by: .seconds(1))
        try bench.send(.add(2))
        #expect(bench.outcome(of: handle) == "2")
    }

    @Test("F35: a saga that works through more actions than are kept is told how many it missed")
    func missed() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.store.runSaga { saga in
            do {
                _ = try await saga.take(Tracker.amount)
                return "taken"
            } catch SagaError.missed(let count) {
                return "missed \(count), then \(try await saga.take(Tracker.amount))"
            }
        }
        let count = 2 * CoreLimits.sagaLogMax
        for amount in 0..<count { try bench.store.dispatch(.search("\(amount)")) }
        bench.settle()
        try bench.send(.add(9))
        #expect(bench.outcome(of: handle) == "missed \(CoreLimits.sagaLogMax), then 9")
    }

    @Test("F35: nothing is kept for sagas that wait")
    func nothingKept() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            saga.takeEvery(Tracker.text) { _, _ in }
            saga.takeLatest(Tracker.text) { _, _ in }
            _ = try await saga.channel(of: Tracker.text, capacity: 1)
            _ = try await saga.take { $0 == .stop }
        }
        for amount in 0..<100 { try bench.send(.add(amount)) }
        let log = try #require(bench.store.node.rules?.sagas?.log)
        #expect(log.keptCount == 0)
        handle.cancel()
        bench.settle()
    }

    @Test("F35: mutations are taken like actions, those of effects too")
    func mutations() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            let sum = try await saga.takeMutation { mutation in
                if case .added(let amount) = mutation { amount } else { nil }
            }
            let text = try await saga.mutations.take { mutation in
                if case .failed(let text) = mutation { text } else { nil }
            }
            return "\(sum) \(text)"
        }
        let failing = bench.run { saga in
            _ = try await saga.take { $0 == .stop }
            throw Broken()
        }
        try bench.send(.add(6), .stop)
        #expect(bench.outcome(of: handle) == "6 broken")
        #expect(!failing.isRunning)
    }

    @Test("F35: a refused action is not taken: sagas see what was committed")
    func refused() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in "\(try await saga.take())" }
        #expect(throws: Rejection.self) { try bench.send(.refuse) }
        try bench.send(.add(1))
        #expect(bench.outcome(of: handle) == "add(1)")
    }

    @Test("F35: erased actions are taken by their types")
    func byType() throws {
        let bench = StoreBench(
            RootReactor(Sum()) { sum, action in
                if let amount = action.as(Int64.self) { sum.value += amount }
            })
        let handle = bench.run { saga in
            saga.takeEvery(String.self) { saga, text in try await saga.put(Int64(text.count)) }
            let amount = try await saga.take(Int64.self)
            let none = try await saga.take(Bool.self, timeout: .seconds(1))
            return "\(amount) \(none == nil)"
        }
        try bench.send(ErasedAction("four"))
        bench.advance(by: .seconds(1))
        handle.cancel()
        #expect(bench.state.value == 4)
    }

    @Test("F36: a take with a timeout gives the action, or nil when it is over")
    func timeout() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            let none = try await saga.take(timeout: .seconds(1), Tracker.amount)
            let some = try await saga.take(timeout: .seconds(1), Tracker.amount)
            let other = try await saga.take(timeout: .seconds(1)) { $0 == .stop }
            return [none, some, other == nil ? 0 : 1]
        }
        bench.advance(by: .seconds(1))
        bench.advance(by: .milliseconds(999))
        try bench.send(.add(3))
        #expect(bench.clock.sleeperCount == 1)
        bench.advance(by: .seconds(1))
        #expect(bench.outcome(of: handle) == "[nil, Optional(3), Optional(0)]")
        #expect(bench.clock.sleeperCount == 0)
    }

    @Test("F36: after a take that gave up, actions are heard again, and nothing of it is left")
    func timeoutLeaves() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.store.runSaga { saga in
            var nones = 0
            while try await saga.take(timeout: .seconds(1), Tracker.amount) == nil { nones += 1 }
            return nones
        }
        bench.advance(by: .seconds(5))
        let desk = try #require(bench.store.node.rules?.sagas)
        #expect(desk.listenerCount == 1)
        try bench.send(.add(1))
        #expect(bench.outcome(of: handle) == "5")
    }
}

@WireCodable
struct Sum: Equatable, Sendable {
    var value: Int64 = 0
}
