import Testing

@testable import ReactorCore

@Suite("SagaSource+Handlers")
struct SagaHandlersTests {
    // SwiftState's takeEvery was a loop of lossy takes.
    @Test("F38: a burst of 100,000 actions reaches takeEvery completely")
    func burst() throws {
        let bench = StoreBench(Tracker())
        let seen = Tick()
        let sum = Kept<Int>()
        let handle = bench.run { saga in
            saga.takeEvery(Tracker.amount) { _, amount in
                seen.up()
                if amount >= 99_990 { sum.keep(amount) }
            }
        }
        for amount in 0..<100_000 { try bench.store.dispatch(.add(amount)) }
        bench.settle()
        #expect(seen.count == 100_000)
        #expect(sum.all == Array(99_990..<100_000))
        handle.cancel()
        bench.settle()
        #expect(SagaRunner.of(bench.store.core.tree).runtime.sagaCount == 0)
    }

    @Test("F38: takeEvery runs its sagas concurrently")
    func every() throws {
        let bench = StoreBench(Tracker())
        _ = bench.run { saga in
            saga.takeEvery(Tracker.amount) { saga, amount in
                try await saga.sleep(for: .seconds(amount))
                try await saga.put(.run("\(amount)"))
            }
        }
        try bench.send(.add(3), .add(1), .add(2))
        bench.advance(by: .seconds(3))
        #expect(bench.state.runs == ["1", "2", "3"])
    }

    @Test("F38: cancelling the handle of takeEvery cancels its running sagas, and ends it")
    func cancelEvery() throws {
        let bench = StoreBench(Tracker())
        let handles = Kept<SagaHandle<Void>>()
        let handle = bench.run { saga in
            handles.keep(
                saga.takeEvery { saga, action in
                    try await saga.sleep(for: .seconds(1))
                    try await saga.put(.run("\(action)"))
                })
            try await saga.sleep(for: .seconds(9))
        }
        try bench.send(.add(1))
        try #require(handles.all.first).cancel()
        try bench.send(.add(2))
        bench.advance(by: .seconds(9))
        #expect(bench.state.runs.isEmpty && bench.state.failures.isEmpty)
        #expect(!handle.isRunning)
    }

    @Test("F38: an error in a run of takeEvery ends that run, and reaches the hook")
    func errorOfEvery() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            saga.takeEvery(Tracker.amount) { saga, amount in
                if amount == 2 { throw Broken() }
                try await saga.put(.run("\(amount)"))
            }
            saga.takeEvery(Tracker.text) { saga, text in try await saga.put(.run(text)) }
        }
        try bench.send(.search("a"), .add(1))
        try bench.send(.add(2))
        try bench.send(.search("b"), .add(3))
        #expect(Set(bench.state.runs) == ["a", "1", "b", "3"])
        #expect(bench.state.failures == ["broken"])
        #expect(handle.isRunning && bench.outcome(of: handle) == "none yet")
        #expect(bench.store.core.tree.effects.running.count == 1)
    }

    @Test("F38: a refused put ends one run of a handler of any kind, and not the handler")
    func refusedPut() throws {
        typealias Context = SagaContext<Failing>
        let begin: [@Sendable (Context, @escaping Context.Handler<Failing.Action>) -> Void] = [
            { $0.takeEvery(do: $1) }, { $0.takeLeading(do: $1) }, { $0.takeLatest(do: $1) },
            { $0.debounce(.seconds(1), do: $1) }, { $0.throttle(.seconds(1), do: $1) },
        ]
        for begin in begin {
            let bench = StoreBench(Failing())
            let handle = bench.run { saga in
                begin(saga) { saga, action in
                    if case .ask(let number) = action { try await saga.put(.refuse(number)) }
                }
            }
            for number in 1...3 {
                try bench.send(.ask(number))
                bench.advance(by: .seconds(1))
            }
            #expect(bench.state.failures == ["ask(1): no 1", "ask(2): no 2", "ask(3): no 3"])
            #expect(handle.isRunning)
            handle.cancel()
            bench.settle()
            #expect(SagaRunner.of(bench.store.core.tree).runtime.sagaCount == 0)
        }
    }

    @Test("F38: an error in a fork of a handler's run ends that run with its other forks")
    func errorOfFork() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            saga.takeEvery(Tracker.amount) { saga, amount in
                saga.fork { saga in
                    try await saga.sleep(for: .seconds(1))
                    if amount == 1 { throw Broken() }
                }
                try await saga.sleep(for: .seconds(2))
                try await saga.put(.run("\(amount)"))
            }
        }
        try bench.send(.add(1), .add(2))
        bench.advance(by: .seconds(2))
        #expect(bench.state.runs == ["2"] && bench.state.failures == ["broken"])
        #expect(handle.isRunning)
    }

    @Test("F38: a handler at another node reports errors to its saga's reactor")
    func errorElsewhere() throws {
        let bench = StoreBench(Office())
        let handle = bench.run { saga in
            let tracker = try await saga.reactor(Tracker.self, at: "/tracker")
            tracker.takeEvery(Tracker.amount) { _, _ in throw Broken() }
        }
        bench.send(Tracker.Action.add(1), to: "/tracker")
        #expect(bench.store.node.fault == "broken" && handle.isRunning)
        #expect(try bench.store.core.tree.state(of: Tracker.self, "/tracker").failures.isEmpty)
    }

    @Test("F38: takeLeading ignores actions while it runs, and does not queue them")
    func leading() throws {
        let bench = StoreBench(Tracker())
        _ = bench.run { saga in
            saga.takeLeading(Tracker.text) { saga, text in
                try await saga.sleep(for: .seconds(1))
                try await saga.put(.run(text))
            }
        }
        try bench.send(.search("a"), .search("b"))
        bench.advance(by: .milliseconds(500))
        try bench.send(.search("c"))
        bench.advance(by: .seconds(1))
        try bench.send(.search("d"))
        bench.advance(by: .seconds(1))
        #expect(bench.state.runs == ["a", "d"])
    }

    @Test("F38: takeLatest cancels the running saga")
    func latest() throws {
        let bench = StoreBench(Tracker())
        let notes = Notes()
        _ = bench.run { saga in
            saga.takeLatest {
                if case .search(let text) = $0 { text } else { nil }
            } do: { saga, text in
                do {
                    try await saga.sleep(for: .milliseconds(300))
                    try await saga.put(.run(text))
                } catch {
                    notes.add("\(text) cancelled")
                    throw error
                }
            }
        }
        try bench.send(.search("a"))
        bench.advance(by: .milliseconds(200))
        try bench.send(.search("ab"))
        bench.advance(by: .milliseconds(200))
        #expect(bench.state.runs.isEmpty && notes.all == ["a cancelled"])
        bench.advance(by: .milliseconds(100))
        #expect(bench.state.runs == ["ab"])
        #expect(bench.state.failures.isEmpty)
    }

    // SwiftState's cancelled sagas still put actions until their next yield.
    @Test("F38: puts of the saga that takeLatest cancelled are dropped")
    func latestDrops() throws {
        let bench = StoreBench(Tracker())
        _ = bench.run { saga in
            saga.takeLatest(Tracker.text) { saga, text in try await saga.put(.run(text)) }
        }
        try bench.store.dispatch(.search("a"))
        // The first saga has requested its put, which is not applied yet.
        _ = bench.executor.run()
        try bench.store.dispatch(.search("b"))
        bench.settle()
        #expect(bench.state.runs == ["b"])
        #expect(SagaRunner.of(bench.store.core.tree).runtime.droppedCount == 1)
    }

    @Test("F39: debounce runs after a pause, with the last action; a running saga is not affected")
    func debounce() throws {
        let bench = StoreBench(Tracker())
        _ = bench.run { saga in
            saga.debounce(.milliseconds(300), Tracker.text) { saga, text in
                try await saga.put(.run("\(text) begins"))
                try await saga.sleep(for: .seconds(1))
                try await saga.put(.run("\(text) ends"))
            }
        }
        for text in ["a", "ab", "abc"] {
            try bench.send(.search(text))
            bench.advance(by: .milliseconds(200))
        }
        #expect(bench.state.runs.isEmpty)
        bench.advance(by: .milliseconds(100))
        #expect(bench.state.runs == ["abc begins"])
        try bench.send(.search("x"))
        bench.advance(by: .milliseconds(299))
        #expect(bench.state.runs == ["abc begins"])
        bench.advance(by: .seconds(2))
        #expect(bench.state.runs == ["abc begins", "x begins", "abc ends", "x ends"])
    }

    // SwiftState ran the body of a debounced middleware for every action, and only dropped
    // results.
    @Test("F39: a burst costs a debounced handler one run, and one task")
    func debouncedBurst() throws {
        let bench = StoreBench(Tracker())
        let runs = Kept<Int>()
        let handle = bench.run { saga in
            saga.debounce(.seconds(1), Tracker.amount) { _, amount in runs.keep(amount) }
        }
        for amount in 0..<10_000 { try bench.store.dispatch(.add(amount)) }
        bench.settle()
        #expect(bench.clock.sleeperCount == 1)
        bench.advance(by: .seconds(1))
        #expect(runs.all == [9_999])
        handle.cancel()
    }

    @Test("F39: throttle runs the first action, and none in its window; there is no run at its end")
    func throttle() throws {
        let bench = StoreBench(Tracker())
        _ = bench.run { saga in
            saga.throttle(.seconds(1), Tracker.text) { saga, text in
                try await saga.put(.run(text))
            }
        }
        try bench.send(.search("a"), .search("b"))
        bench.advance(by: .milliseconds(900))
        try bench.send(.search("c"))
        bench.advance(by: .milliseconds(99))
        try bench.send(.search("d"))
        bench.advance(by: .milliseconds(1))
        #expect(bench.state.runs == ["a"])
        // The window begins with the accepted action.
        try bench.send(.search("e"))
        #expect(bench.state.runs == ["a", "e"])
        bench.advance(by: .seconds(5))
        #expect(bench.state.runs == ["a", "e"])
    }

    @Test("F38: an action without room for a further saga is refused as busy, and none is lost")
    func ceiling() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            saga.takeEvery(Tracker.amount) { saga, _ in try await saga.sleep(for: .seconds(1)) }
        }
        let runtime = SagaRunner.of(bench.store.core.tree).runtime
        while runtime.hasRoom(for: 1) { _ = runtime.enter() }
        #expect(
            throws: Rejection(
                .busy, "/: \(CoreLimits.sagasMax) sagas run, the maximum")
        ) { try bench.send(.add(1)) }
        try bench.send(.search("what nobody handles"))
        runtime.leave()
        try bench.send(.add(2))
        #expect(throws: Rejection.self) { try bench.send(.add(3)) }
        #expect(bench.state.sum == 2)
        #expect(handle.isRunning)
    }
}
