import Testing

@testable import ReactorCore

@Suite("SagaContext+Children")
struct SagaChildrenTests {
    @Test("F34: a saga ends only after its forks, and join returns a fork's result")
    func fork() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            let slow = saga.fork { saga in
                try await saga.sleep(for: .seconds(2))
                return 7
            }
            saga.fork { saga in
                try await saga.sleep(for: .seconds(5))
                try await saga.put(.run("late"))
            }
            return try await saga.join(slow)
        }
        bench.advance(by: .seconds(3))
        #expect(handle.isRunning && bench.outcome(of: handle) == "none yet")
        bench.advance(by: .seconds(2))
        #expect(bench.outcome(of: handle) == "7")
        #expect(bench.state.runs == ["late"])
    }

    // SwiftState's forks were detached: neither the end nor the cancellation of a saga reached
    // them.
    @Test("F34: cancelling a saga cancels its forks, and theirs")
    func cancellationGoesDown() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            saga.fork { saga in
                saga.fork { saga in
                    try await saga.sleep(for: .seconds(1))
                    try await saga.put(.run("never"))
                }
                try await saga.sleep(for: .seconds(1))
                try await saga.put(.run("never"))
            }
        }
        handle.cancel()
        bench.settle()
        #expect(bench.clock.sleeperCount == 0 && !handle.isRunning)
        bench.advance(by: .seconds(2))
        #expect(bench.state.runs.isEmpty && bench.state.failures.isEmpty)
        #expect(SagaRunner.of(bench.store.core.tree).runtime.sagaCount == 0)
    }

    @Test("F34: an error of a fork ends its parent and its siblings, and reaches the hook once")
    func errorsGoUp() throws {
        let bench = StoreBench(Tracker())
        let notes = Notes()
        let handle = bench.run { saga in
            saga.fork { saga in
                do { try await saga.sleep(for: .seconds(60)) } catch {
                    notes.add("sibling \(error is CancellationError)")
                    throw error
                }
            }
            saga.fork { saga in
                try await saga.sleep(for: .seconds(1))
                throw Broken()
            }
            do { _ = try await saga.take(Tracker.text) } catch {
                notes.add("parent \(error is CancellationError)")
                throw error
            }
        }
        bench.advance(by: .seconds(1))
        #expect(Set(notes.all) == ["sibling true", "parent true"])
        #expect(bench.outcome(of: handle) == "broken")
        #expect(bench.state.failures == ["broken"])
        #expect(!handle.isRunning)
    }

    @Test("F34: a cancelled fork is not an error of its parent")
    func cancelledFork() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            let child = saga.fork { saga in try await saga.sleep(for: .seconds(60)) }
            child.cancel()
            do { try await saga.join(child) } catch is CancellationError { return "cancelled" }
            return "through"
        }
        #expect(bench.outcome(of: handle) == "cancelled")
        #expect(bench.state.failures.isEmpty)
    }

    @Test("F34: a spawned saga outlives its parent, and its error is not its parent's")
    func spawn() throws {
        let bench = StoreBench(Tracker())
        let spawned = Kept<SagaHandle<Int>>()
        let handle = bench.run { saga in
            spawned.keep(
                saga.spawn { saga in
                    try await saga.sleep(for: .seconds(1))
                    try await saga.put(.run("outlived"))
                    return 1
                })
            saga.spawn { saga in
                try await saga.sleep(for: .seconds(2))
                throw Broken()
            }
            try await saga.sleep(for: .seconds(60))
        }
        handle.cancel()
        bench.settle()
        #expect(!handle.isRunning)
        bench.advance(by: .seconds(1))
        #expect(bench.state.runs == ["outlived"])
        let first = try #require(spawned.all.first)
        #expect(bench.outcome(of: first) == "1")
        bench.advance(by: .seconds(1))
        #expect(bench.state.failures == ["broken"])
        #expect(bench.store.core.tree.effects.running.isEmpty)
    }

    @Test("F34: a spawned saga ends with its reactor")
    func spawnEnds() throws {
        let bench = StoreBench(Office())
        let tree = bench.store.core.tree
        try bench.send(.open("a"))
        let node = try #require(tree.node(at: try SlicePath("/rooms/a")) as? Node<Tracker>)
        _ = SagaRunner.of(tree).run(on: node) { saga in
            saga.spawn { saga in try await saga.sleep(for: .seconds(60)) }
        }
        bench.settle()
        #expect(bench.clock.sleeperCount == 1)
        try bench.send(.close("a"))
        #expect(bench.clock.sleeperCount == 0 && SagaRunner.of(tree).runtime.sagaCount == 0)
    }

    @Test("F34: run waits for a saga, and throws its error where it can be caught")
    func run() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            let sum = try await saga.run { saga in
                try await saga.sleep(for: .seconds(1))
                return 5
            }
            do {
                try await saga.run { _ in throw Broken() }
            } catch is Broken {
                return "\(sum), broken"
            }
            return "not caught"
        }
        bench.advance(by: .seconds(1))
        #expect(bench.outcome(of: handle) == "5, broken")
        #expect(bench.state.failures.isEmpty)
    }

    @Test("F34: a saga that forks itself forever is cut off with an error")
    func depth() throws {
        let bench = StoreBench(Tracker())
        @Sendable func dig(_ saga: SagaContext<Tracker>) async throws {
            saga.fork { try await dig($0) }
        }
        let handle = bench.run(dig)
        #expect(bench.outcome(of: handle) == "\(SagaError.tooDeep)")
        #expect(SagaRunner.of(bench.store.core.tree).runtime.sagaCount == 0)
    }
}
