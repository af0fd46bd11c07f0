import Testing

@testable import ReactorCore

/// Drives ``SagaScope``.
/// A root whose children run a saga of their own, which the root counts.
@Reactor
private struct Nursery {
    @Children var children = { (_: WireKey) in Child() }

    enum Action: Equatable, Sendable {
        case add(String)
        case remove(String)
    }
    enum Mutation: Equatable, Sendable { case born(String) }
    struct State: Equatable, Sendable { var born: [String] = [] }

    @Reactor
    struct Child {
        enum Action: Equatable, Sendable { case greet }
        struct State: Equatable, Sendable { var count = 0 }

        func mutate(action: Action) -> Mutations<Action> { [action] }

        func reduce(state: inout State, mutation: Action) { state.count += 1 }

        var sagas: [Saga<Self>] { [Saga { saga in try await saga.put(.greet) }] }
    }

    func mutate(action: Action) -> Mutations<Mutation> {
        switch action {
        case .add(let key): Mutations.none.creating($children, WireKey(key))
        case .remove(let key): Mutations.none.removing($children, WireKey(key))
        }
    }

    @Reacts(to: \Nursery.$children)
    func changed(_ mutation: Child.Action, key: WireKey) -> Mutations<Mutation> {
        [.born(key.text)]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .born(let key): state.born.append(key)
        }
    }
}

@Suite("Saga")
struct SagaTests {
    @Test("F31: a saga runs in a store until it ends, and its handle returns its result")
    func runs() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            let text = try await saga.take(Tracker.text)
            try await saga.put(.run(text))
            return text.count
        }
        #expect(handle.isRunning)
        try bench.send(.add(1), .search("tea"))
        #expect(bench.state.runs == ["tea"])
        #expect(bench.outcome(of: handle) == "3")
        #expect(!handle.isRunning)
    }

    @Test("F31: a saga receives actions dispatched directly after its start")
    func isReadyAtOnce() throws {
        let bench = StoreBench(Tracker())
        _ = bench.store.runSaga { saga in
            saga.takeEvery(Tracker.amount) { saga, amount in
                try await saga.put(.run("every \(amount)"))
            }
            try await saga.put(.run("\(try await saga.take(Tracker.text))"))
        }
        try bench.send(.search("early"), .add(7))
        #expect(Set(bench.state.runs) == ["early", "every 7"])
    }

    @Test("F31: a cancelled saga ends at its wait, without an error")
    func cancel() throws {
        let bench = StoreBench(Tracker())
        let notes = Notes()
        let handle = bench.run { saga in
            do {
                _ = try await saga.take(Tracker.text)
            } catch {
                notes.add("\(error is CancellationError)")
                throw error
            }
        }
        handle.cancel()
        bench.settle()
        #expect(notes.all == ["true"])
        #expect(bench.outcome(of: handle) == "cancelled")
        #expect(bench.state.failures.isEmpty)
        let effects = bench.store.core.tree.effects
        #expect(effects.running.isEmpty && effects.orphans.isEmpty)
    }

    @Test("F31: a reactor's own sagas start with it and end when it is removed")
    func own() throws {
        let bench = StoreBench(Office())
        let tree = bench.store.core.tree
        try bench.send(.open("a"))
        #expect(tree.effects.running.count == 1 && SagaRunner.of(tree).runtime.sagaCount == 2)
        bench.send(Tracker.Action.search("ada"), to: "/rooms/a")
        #expect(try tree.state(of: Tracker.self, "/rooms/a").runs == ["hello ada"])
        try bench.send(.close("a"))
        #expect(tree.effects.running.isEmpty && tree.effects.orphans.isEmpty)
        #expect(SagaRunner.of(tree).runtime.sagaCount == 0)
    }

    @Test("F31: a reactor's saga receives an action directly after the reactor's creation")
    func heardFromTheBeginning() throws {
        let executor = HandExecutor()
        let inbox = StoreInbox(wake: {})
        let tree = Tree(
            Office(), epoch: 1,
            environment: TreeEnvironment(
                post: { inbox.post($0) }, spawn: TreeEnvironment.spawn(on: executor)))
        tree.open()
        tree.turn.begin()
        try tree.send(Office.Action.open("a"))
        try tree.send(Tracker.Action.search("ada"), to: "/rooms/a")
        for _ in 0..<5 {
            tree.start(tree.turn.takeEffects())
            while executor.run() { for job in inbox.take() { job(tree) } }
        }
        #expect(try tree.state(of: Tracker.self, "/rooms/a").runs == ["hello ada"])
    }

    @Test("F31: an uncaught error ends the saga and reaches the error hook")
    func error() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            _ = try await saga.take(Tracker.text)
            throw Broken()
        }
        try bench.send(.search("x"))
        #expect(bench.state.failures == ["broken"])
        #expect(bench.outcome(of: handle) == "broken")
        try bench.send(.add(2))
        #expect(bench.state.sum == 2)
    }

    @Test("F31: a reactor without sagas, or with ended ones, takes the short path")
    func noCost() throws {
        let bench = StoreBench(Tracker())
        #expect(!bench.store.node.takesLongWay)
        let handle = bench.run { saga in _ = try await saga.take() }
        #expect(bench.store.node.takesLongWay)
        handle.cancel()
        bench.settle()
        #expect(!bench.store.node.takesLongWay)
    }

    @Test("F31: top-level sagas beyond the limit of effects end at once with an error")
    func ceiling() throws {
        let bench = StoreBench(Tracker())
        bench.store.core.tree.effectsMax = 1_024
        var handles: [SagaHandle<Void>] = []
        for _ in 0...1_024 {
            handles.append(bench.store.runSaga { saga in try await saga.sleep(for: .seconds(9)) })
        }
        bench.settle()
        let last = try #require(handles.last)
        #expect(bench.outcome(of: last) == "\(SagaError.tooMany)")
        for handle in handles { handle.cancel() }
        bench.settle()
        #expect(SagaRunner.of(bench.store.core.tree).runtime.sagaCount == 0)
    }

    @Test("F31: a reactor's own saga waits at the limit of sagas, and is not lost")
    func ownSaga() throws {
        let bench = StoreBench(Nursery())
        let runtime = SagaRunner.of(bench.store.core.tree).runtime
        while runtime.hasRoom(for: 1) { _ = runtime.enter() }
        try bench.send(.add("a"))
        try bench.send(.add("b"))
        try bench.send(.add("c"))
        try bench.send(.remove("b"))
        #expect(bench.state.born == [] && bench.complaints.isEmpty)
        runtime.leave()
        bench.settle()
        // One runs after the other, each in the place of the one before.
        #expect(bench.state.born == ["a", "c"] && bench.complaints.isEmpty)
        #expect(!runtime.hasRoom(for: 2) && runtime.hasRoom(for: 1))
    }

    @Test("R100: sagas that put to each other forever leave room for other work in between")
    func pingPong() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.store.runSaga { saga in
            saga.takeEvery(Tracker.text) { saga, _ in try await saga.put(.add(1)) }
            saga.takeEvery(Tracker.amount) { saga, _ in try await saga.put(.search("again")) }
        }
        try bench.store.dispatch(.search("go"))
        for round in 0..<50 {
            _ = bench.executor.run()
            let before = bench.store.sequence
            bench.store.drain()
            // One drain takes only the jobs posted before it.
            #expect(bench.store.sequence - before <= 1, "round \(round)")
            try bench.store.dispatch(.stop)
        }
        #expect(bench.state.sum > 5)
        handle.cancel()
        bench.settle()
    }

    @Test("R101: a saga that ignores its cancellation only occupies a place among the orphans")
    func orphans() throws {
        let bench = StoreBench(Tracker())
        let (stream, input) = AsyncStream<Int>.makeStream()
        let notes = Notes()
        let handle = bench.run { saga in
            // A detached task does not receive the cancellation.
            await Task.detached { for await _ in stream {} }.value
            do {
                try await saga.put(.add(1))
            } catch {
                notes.add("\(error is CancellationError)")
            }
        }
        let tree = bench.store.core.tree
        tree.effects.cancel(ofNode: 0)
        bench.settle()
        #expect(tree.effects.orphans.count == 1 && tree.effects.running.isEmpty)
        #expect(handle.isRunning)
        _ = input
    }

    @Test("R102: puts of a saga after its reactor was removed or created again are dropped")
    func removed() throws {
        let bench = StoreBench(Office())
        let tree = bench.store.core.tree
        try bench.send(.open("a"))
        let notes = Notes()
        let completions = Kept<SagaCompletion<Int>>()
        let path = try SlicePath("/rooms/a")
        let node = try #require(tree.node(at: path) as? Node<Tracker>)
        _ = SagaRunner.of(tree).run(on: node) { saga in
            do {
                let amount = try await saga.call { completions.keep($0) }
                try await saga.put(.add(amount))
            } catch {
                notes.add("\(error is CancellationError)")
            }
        }
        bench.settle()
        try bench.send(.close("a"))
        try bench.send(.open("a"))
        let completion = try #require(completions.all.first)
        completion(5)
        bench.settle()
        #expect(notes.all == ["true"])
        #expect(try tree.state(of: Tracker.self, "/rooms/a").sum == 0)
    }

    @Test("R103: a put in progress during a saga's cancellation is either applied or dropped")
    func cancelRacesPut() throws {
        for isLate in [false, true] {
            let bench = StoreBench(Tracker())
            let notes = Notes()
            let handle = bench.store.runSaga { saga in
                do {
                    try await saga.put(.add(1))
                    notes.add("applied")
                } catch {
                    notes.add("dropped")
                }
            }
            _ = bench.executor.run()
            if isLate { bench.store.drain() }
            handle.cancel()
            bench.settle()
            #expect(bench.state.sum == (isLate ? 1 : 0))
            #expect(SagaRunner.of(bench.store.core.tree).runtime.droppedCount == (isLate ? 0 : 1))
            #expect(notes.all.count == 1)
        }
    }
}
