import Testing

@testable import ReactorCore

/// Drives ``SagaBroker``.
@Suite("SagaSource")
struct SagaSourceTests {
    @Test("F35: a saga takes by case, by predicate, or any next action")
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

    // SwiftState's take had room for one action, and dropped the older one when a second came.
    @Test("F35: actions between two takes are available to the next, in order")
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

    @Test("F35: a take in a loop loses nothing, whatever the saga awaits in between")
    func loop() throws {
        typealias Wait = @Sendable (SagaContext<Tracker>, Int) async throws -> Void
        let waits: [Wait] = [
            { saga, _ in try await saga.sleep(for: .seconds(1)) },
            { saga, amount in try await saga.put(.run("\(amount)")) },
            { saga, _ in _ = try await saga.select(\.sum) },
            { saga, _ in
                _ = try await saga.all([1]) { saga, _ in try await saga.sleep(for: .seconds(1)) }
            },
            { saga, _ in try await saga.race { try await $0.sleep(for: .seconds(1)) } },
        ]
        for (number, wait) in waits.enumerated() {
            let bench = StoreBench(Tracker())
            let handle = bench.run { saga in
                var amounts: [Int] = []
                while amounts.count < 9 {
                    let amount = try await saga.take(Tracker.amount)
                    amounts.append(amount)
                    try await wait(saga, amount)
                }
                return amounts
            }
            for amount in 0..<9 {
                try bench.send(.add(amount), .search("other"))
                bench.advance(by: .milliseconds(300))
            }
            bench.advance(by: .seconds(9))
            #expect(bench.outcome(of: handle) == "\(Array(0..<9))", "wait \(number)")
        }
    }

    @Test("F35: a saga's own puts in its loop are not available to its next take, others' puts are")
    func ownPuts() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            var amounts: [Int] = []
            while amounts.count < 4 {
                let amount = try await saga.take(Tracker.amount)
                amounts.append(amount)
                try await saga.put(.add(amount + 100))
                try await saga.run { try await $0.put(.add(amount + 200)) }
                _ = try await saga.all([1]) { saga, _ in try await saga.put(.add(amount + 300)) }
            }
            return amounts
        }
        for amount in 1...4 { try bench.store.dispatch(.add(amount)) }
        bench.settle()
        #expect(bench.outcome(of: handle) == "[1, 2, 3, 4]")
        #expect(bench.state.sum == 4 * 10 + 4 * 600)
        let mutations = bench.run { saga in
            var seen: [Int] = []
            while seen.count < 2 {
                let amount = try await saga.takeMutation { mutation in
                    if case .added(let amount) = mutation { amount } else { nil }
                }
                seen.append(amount)
                try await saga.put(.add(amount + 1))
            }
            return seen
        }
        try bench.send(.add(10), .add(20))
        #expect(bench.outcome(of: mutations) == "[10, 20]")
    }

    @Test("F35: members of a group take from their saga's position, and it continues after them")
    func groups() throws {
        let bench = StoreBench(Tracker())
        let amounts: @Sendable (SagaContext<Tracker>) async throws -> String = {
            "\(try await $0.take(Tracker.amount))"
        }
        let texts: @Sendable (SagaContext<Tracker>) async throws -> String = {
            try await $0.take(Tracker.text)
        }
        let race = bench.run { saga in
            var seen: [String] = []
            while seen.count < 6 { seen.append(try await saga.race(amounts, texts)) }
            return seen.joined(separator: " ")
        }
        let joined = bench.run { saga in
            var seen: [String] = []
            while seen.count < 6 {
                seen.append(try await saga.run(amounts))
                seen += try await saga.all([1]) { saga, _ in try await texts(saga) }
            }
            return seen.joined(separator: " ")
        }
        for amount in 1...3 {
            try bench.store.dispatch(.add(amount))
            try bench.store.dispatch(.search("a\(amount)"))
        }
        bench.settle()
        // If both members of a race could win, either may.
        let won = bench.outcome(of: race).split(separator: " ").map(String.init)
        #expect(won.filter { !$0.hasPrefix("a") } == ["1", "2", "3"])
        #expect(won.filter { $0.hasPrefix("a") } == ["a1", "a2", "a3"])
        #expect(bench.outcome(of: joined) == "1 a1 2 a2 3 a3")
    }

    @Test("F40: a take that races against a timeout does not see skipped actions again")
    func raceAgainstTime() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            var seen: [Int?] = []
            while seen.count < 4 {
                seen.append(
                    try await saga.race(
                        { try await $0.take(Tracker.amount) },
                        {
                            try await $0.sleep(for: .seconds(1))
                            return nil
                        }))
            }
            return seen
        }
        for _ in 0..<2 {
            for _ in 0..<(2 * CoreLimits.sagaLogMax) { try bench.store.dispatch(.stop) }
            bench.advance(by: .seconds(1))
        }
        try bench.send(.add(1), .add(2))
        #expect(bench.outcome(of: handle) == "[nil, nil, Optional(1), Optional(2)]")
    }

    @Test("F36: an action that arrives as a take times out is available to the next")
    func expiredMidway() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            let none = try await saga.take(timeout: .seconds(1), Tracker.amount)
            return [none, try await saga.take(Tracker.amount)]
        }
        bench.clock.set(bench.clock.now.advanced(by: .seconds(1)))
        _ = bench.executor.run()
        // The time is over, and the store has not processed it.
        try bench.store.dispatch(.add(7))
        bench.settle()
        let outcome = bench.outcome(of: handle)
        try bench.send(.add(8))
        #expect(
            ["[Optional(7), Optional(8)]", "[nil, Optional(7)]"].contains(
                outcome == "none yet" ? bench.outcome(of: handle) : outcome))
    }

    @Test("F35: skipped actions are not available to the next take")
    func skip() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            let first = try await saga.take(Tracker.amount)
            try await saga.sleep(for: .seconds(1))
            saga.skipToNow()
            return [first, try await saga.take(Tracker.amount)]
        }
        try bench.send(.add(1), .add(2))
        bench.advance(by: .seconds(1))
        try bench.send(.add(3))
        #expect(bench.outcome(of: handle) == "[1, 3]")
    }

    @Test("F35: an overflow between two takes is an error, and the next take continues from there")
    func overrun() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            let first = try await saga.take(Tracker.amount)
            try await saga.sleep(for: .seconds(1))
            do {
                return "\(try await saga.take(Tracker.amount))"
            } catch SagaError.missed(let count) {
                return "\(first), missed \(count), \(try await saga.take(Tracker.amount))"
            }
        }
        try bench.send(.add(1))
        for _ in 0..<(2 * CoreLimits.sagaLogMax) { try bench.store.dispatch(.stop) }
        bench.advance(by: .seconds(1))
        try bench.send(.add(2))
        #expect(bench.outcome(of: handle) == "1, missed \(CoreLimits.sagaLogMax), 2")
    }

    @Test("F35: nothing is kept for sagas that never take, nor for ended ones")
    func keptForReaders() throws {
        let bench = StoreBench(Tracker())
        let sleeping = bench.run { saga in try await saga.sleep(for: .seconds(9)) }
        let handling = bench.run { saga in
            saga.takeEvery(Tracker.text) { saga, _ in try await saga.sleep(for: .seconds(9)) }
        }
        let reading = bench.run { saga in
            _ = try await saga.take(Tracker.text)
            try await saga.sleep(for: .seconds(9))
        }
        let log = try #require(SagaRunner.broker(at: bench.store.node)?.log)
        try bench.send(.add(1))
        #expect(log.keptCount == 0)
        try bench.send(.search("a"))
        try bench.send(.add(1))
        #expect(log.keptCount > 0)
        reading.cancel()
        bench.settle()
        try bench.send(.add(1))
        #expect(log.keptCount == 0)
        sleeping.cancel()
        handling.cancel()
        bench.settle()
    }

    @Test("F35: actions that arrive while a saga waits before its first take are dropped")
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

    @Test("F35: a saga that falls behind by more actions than are kept learns how many it missed")
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

    @Test("F35: nothing is kept for waiting sagas")
    func nothingKept() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            saga.takeEvery(Tracker.text) { _, _ in }
            saga.takeLatest(Tracker.text) { _, _ in }
            _ = try await saga.channel(of: Tracker.text, capacity: 1)
            _ = try await saga.take { $0 == .stop }
        }
        for amount in 0..<100 { try bench.send(.add(amount)) }
        let log = try #require(SagaRunner.broker(at: bench.store.node)?.log)
        #expect(log.keptCount == 0)
        handle.cancel()
        bench.settle()
    }

    @Test("F35: mutations are taken like actions, including those of effects")
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

    @Test("F35: a refused action is not taken: sagas see committed actions only")
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

    @Test("F38, F39: erased actions are handled by their types, in each way")
    func handlersByType() throws {
        let bench = StoreBench(
            RootReactor(Sum()) { sum, action in
                if let amount = action.as(Int64.self) { sum.value += amount }
            })
        let notes = Notes()
        let handle = bench.run { saga in
            saga.takeLeading(String.self) { saga, text in
                notes.add("leading \(text)")
                try await saga.sleep(for: .seconds(1))
            }
            saga.debounce(.seconds(1), String.self) { _, text in notes.add("debounce \(text)") }
            saga.throttle(.seconds(1), String.self) { _, text in notes.add("throttle \(text)") }
        }
        try bench.send(ErasedAction("a"), ErasedAction(Int64(1)), ErasedAction("b"))
        #expect(Set(notes.all) == ["leading a", "throttle a"])
        bench.advance(by: .seconds(1))
        #expect(Set(notes.all) == ["leading a", "throttle a", "debounce b"])
        #expect(notes.all.count == 3)
        handle.cancel()
        bench.settle()
    }

    @Test("F36: a take with a timeout returns the action, or nil after the timeout")
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

    @Test("F36: after a take has timed out actions are available again, and nothing of it is left")
    func timeoutLeaves() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.store.runSaga { saga in
            var nones = 0
            while try await saga.take(timeout: .seconds(1), Tracker.amount) == nil { nones += 1 }
            return nones
        }
        bench.advance(by: .seconds(5))
        let broker = try #require(SagaRunner.broker(at: bench.store.node))
        #expect(broker.listenerCount == 1)
        try bench.send(.add(1))
        #expect(bench.outcome(of: handle) == "5")
    }
}

@WireCodable
struct Sum: Equatable, Sendable {
    var value: Int64 = 0
}
