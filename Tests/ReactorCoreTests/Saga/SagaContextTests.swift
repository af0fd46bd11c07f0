import Testing

@testable import ReactorCore

@Suite("SagaContext")
struct SagaContextTests {
    @Test("F32: select returns the current state, or a part of it")
    func select() throws {
        let bench = StoreBench(Tracker())
        try bench.send(.add(4))
        let handle = bench.run { saga in
            let whole = try await saga.select()
            let part: Int = try await saga.select(\.sum)
            let made = try await saga.select { $0.runs.count + $0.sum }
            return [whole.sum, part, made]
        }
        #expect(bench.outcome(of: handle) == "[4, 4, 4]")
    }

    @Test("F32: put returns when the action is applied")
    func put() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            try await saga.put(.add(4))
            return try await saga.select(\.sum)
        }
        #expect(bench.outcome(of: handle) == "4")
    }

    @Test("F32: a refused put throws the rejection, which the saga may catch")
    func rejection() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            do {
                try await saga.put(.refuse)
                return "applied"
            } catch let rejection as Rejection {
                return rejection.code
            }
        }
        #expect(bench.outcome(of: handle) == "refused")
        let uncaught = bench.run { saga in try await saga.put(.refuse) }
        #expect(bench.outcome(of: uncaught) == "refused: not this one")
        #expect(bench.state.failures == ["refused: not this one"])
    }

    // SwiftState reduces the outer action on a copy made before its middleware ran, so a saga's
    // put in response to an action was overwritten.
    @Test("F32: a put in response to an action is never lost, however many there are")
    func noLostUpdate() throws {
        let bench = StoreBench(Tracker())
        _ = bench.run { saga in
            saga.takeEvery {
                if case .add(let amount) = $0, amount < 100 { amount } else { nil }
            } do: { saga, amount in
                try await saga.put(.add(amount * 100))
            }
        }
        for _ in 0..<10 { try bench.send(.add(1), .add(2)) }
        #expect(bench.state.sum == 10 * (1 + 2 + 100 + 200))
    }

    @Test("F32: the consequences of a put are available to the next take, the put itself is not")
    func putThenTake() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            try await saga.put(.fetch(3))
            return "\(try await saga.take())"
        }
        #expect(bench.outcome(of: handle) == "fetched(3)")
    }

    @Test("F32: actions after a select are available to the next take")
    func selectThenTake() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.store.runSaga { saga in
            let sum = try await saga.select(\.sum)
            return [sum, try await saga.take(Tracker.amount)]
        }
        _ = bench.executor.run()
        bench.store.drain()
        // The saga has its result and has not continued.
        try bench.store.dispatch(.add(5))
        bench.settle()
        #expect(bench.outcome(of: handle) == "[0, 5]")
    }

    @Test("F32: a saga puts to other nodes, follows them, and gets an error if there are none")
    func elsewhere() throws {
        let bench = StoreBench(Office())
        let handle = bench.run { saga in
            let tracker = try await saga.reactor(Tracker.self, at: "/tracker")
            try await tracker.put(.add(1))
            try await saga.put(Tracker.Action.add(2), to: "/tracker")
            var texts = ["\(try await tracker.select(\.sum))"]
            texts.append(try await tracker.take(Tracker.text))
            do { _ = try await saga.reactor(Office.self, at: "/tracker") } catch {
                texts.append("\(error)")
            }
            do { try await saga.put(Tracker.Action.add(2), to: "/nowhere") } catch {
                texts.append("\(error)")
            }
            do { try await saga.put(Tracker.Action.refuse, to: "/tracker") } catch {
                texts.append("\(error)")
            }
            return texts
        }
        let tree = bench.store.core.tree
        let refusals = ["NOT_FOUND: /nowhere: no such node", "refused: not this one"]
        bench.send(Tracker.Action.search("far"), to: "/tracker")
        #expect(
            bench.outcome(of: handle)
                == "\(["3", "far", "\(SagaError.gone(path: "/tracker"))"] + refusals)")
        let node = try #require(tree.node(at: try SlicePath("/tracker")))
        #expect(!node.takesLongWay)
    }

    @Test("F32: a saga that follows a removed node gets an error")
    func goneElsewhere() throws {
        let bench = StoreBench(Office())
        try bench.send(.open("a"))
        let handle = bench.run { saga in
            let room = try await saga.reactor(Tracker.self, at: "/rooms/a")
            return try await room.take(Tracker.amount)
        }
        try bench.send(.close("a"))
        #expect(bench.outcome(of: handle) == "\(SagaError.gone(path: "/rooms/a"))")
    }

    @Test("F33: call waits for its callback, and the first result counts")
    func call() throws {
        let bench = StoreBench(Tracker())
        let completions = Kept<SagaCompletion<Int>>()
        let handle = bench.run { saga in
            let first = try await saga.call { completions.keep($0) }
            let second: Int = try await saga.call { completion in
                completion(20)
                completion(30)
                completion(throwing: Broken())
            }
            return first + second
        }
        #expect(bench.outcome(of: handle) == "none yet")
        let completion = try #require(completions.all.first)
        completion(1)
        completion(2)
        #expect(bench.outcome(of: handle) == "21")
    }

    @Test("F33: a call may fail, and the saga can catch its error")
    func failingCall() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            let _: Int = try await saga.call { $0(.failure(Broken())) }
        }
        #expect(bench.outcome(of: handle) == "broken")
    }

    // A missing callback blocked SwiftState's saga forever.
    @Test("F33: a saga whose call never returns can be cancelled, and ends")
    func unansweredCall() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            let _: Int = try await saga.call { _ in }
        }
        #expect(bench.outcome(of: handle) == "none yet")
        handle.cancel()
        #expect(bench.outcome(of: handle) == "cancelled")
        #expect(!handle.isRunning && bench.store.core.tree.effects.orphans.isEmpty)
    }

    @Test("F33: an async block returns its value or its error, and is cancelled with its saga")
    func block() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            let value = try await saga.async { 40 + 2 }
            do {
                try await saga.async { throw Broken() }
                return 0
            } catch is Broken {
                return value
            }
        }
        #expect(bench.outcome(of: handle) == "42")
        #expect(bench.state.failures.isEmpty)
        let notes = Notes()
        let clock = bench.clock
        let waiting = bench.run { saga in
            try await saga.async {
                do {
                    try await TreeClock(clock).sleep(for: .seconds(9))
                } catch {
                    notes.add("ended")
                }
            }
        }
        waiting.cancel()
        bench.settle()
        #expect(notes.all == ["ended"])
    }

    @Test("F33: sleep uses the tree's clock, and ends when the saga is cancelled")
    func sleeping() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            try await saga.sleep(for: .milliseconds(300))
            try await saga.put(.run("awake"))
        }
        let other = bench.run { saga in try await saga.sleep(for: .seconds(60)) }
        bench.advance(by: .milliseconds(299))
        #expect(bench.state.runs.isEmpty)
        bench.advance(by: .milliseconds(1))
        #expect(bench.state.runs == ["awake"] && !handle.isRunning)
        other.cancel()
        bench.settle()
        #expect(!other.isRunning && bench.clock.sleeperCount == 0)
    }
}
