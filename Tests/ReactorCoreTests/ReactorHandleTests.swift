import ReactorThreads
import Testing

@testable import ReactorCore

@Suite("The handle of a live reactor")
struct ReactorHandleTests {
    @Test(
        "F28: middleware and taps are added from any task, with a sendable token")
    func tokens() async throws {
        let bench = StoreBench(Adder())
        let handle = bench.store.handle
        let seen = Guarded<[String]>([])
        let tokens = Guarded<[ReactorToken]>([])
        await Task.detached {
            let middleware = handle.addMiddleware(
                Middleware { _, action, _ in seen.withLock { $0.append("\(action)") } })
            let tap = handle.addTap(
                NodeTap(mutation: { mutation, _ in seen.withLock { $0.append("\(mutation)") } }))
            tokens.withLock { $0 = [middleware, tap] }
        }.value
        bench.settle()
        try bench.send(.add(1))
        #expect(seen.withLock { $0 } == ["add(1)", "added(1)"])
        await Task.detached { tokens.withLock { $0 = [] } }.value
        bench.settle()
        try bench.send(.add(2))
        #expect(seen.withLock { $0.count } == 2)
        #expect(!bench.store.node.takesLongWay)
    }

    @Test("F28: middleware and taps see no action after their sendable tokens are released")
    func released() throws {
        let bench = StoreBench(Adder())
        let seen = Guarded<[String]>([])
        let handle = bench.store.handle
        var tokens = [
            handle.addMiddleware(Middleware { _, _, _ in seen.withLock { $0.append("run") } }),
            handle.addTap(
                NodeTap(
                    action: { _, _ in seen.withLock { $0.append("action") } },
                    mutation: { _, _ in seen.withLock { $0.append("mutation") } })),
        ]
        bench.settle()
        try bench.send(.add(1))
        #expect(seen.withLock { $0.sorted() } == ["action", "mutation", "run"])
        tokens = []
        // The store removes them with its next drain.
        try bench.store.dispatch(.add(2))
        #expect(seen.withLock { $0.count } == 3 && tokens.isEmpty)
    }

    @Test(
        "F28: actions that wait in middleware are dropped as soon as its sendable token is released",
        arguments: [true, false])
    func waiting(isDebounced: Bool) throws {
        let bench = StoreBench(Adder())
        let seen = Guarded(0)
        let middleware = Middleware<Adder> { _, _, _ in seen.withLock { $0 += 1 } }
        var token: ReactorToken? = bench.store.handle.addMiddleware(
            isDebounced ? middleware.debounce(.seconds(1)) : middleware.delay(.seconds(1)))
        bench.settle()
        try bench.send(.add(1))
        #expect(token != nil && bench.clock.sleeperCount == 1)
        // The time has passed, and the store has not yet run the job that says so.
        bench.clock.set(bench.clock.now.advanced(by: .seconds(1)))
        #expect(bench.executor.run())
        token = nil
        bench.settle()
        #expect(seen.withLock { $0 } == 0)
    }

    @Test("F28: kept middleware lasts without its token")
    func kept() throws {
        let bench = StoreBench(Adder())
        let count = Guarded(0)
        bench.store.handle.addMiddleware(Middleware { _, _, _ in count.withLock { $0 += 1 } })
            .keep()
        bench.settle()
        try bench.send(.add(1))
        #expect(count.withLock { $0 } == 1)
    }

    @Test("F26: a source connected through the handle ends with its token")
    func connect() {
        let bench = StoreBench(Adder())
        let (stream, input) = AsyncStream.makeStream(of: Adder.Action.self)
        var token: ReactorToken? = bench.store.handle.connect(stream)
        input.yield(.add(1))
        bench.settle()
        #expect(bench.state.seen == [1] && token != nil)
        token = nil
        bench.settle()
        input.yield(.add(3))
        bench.settle()
        #expect(bench.state.seen == [1])
    }

    @Test(
        "F28: a released store retains nothing while its tokens live",
        arguments: [
            "middleware", "debounce", "delay", "takeLatest", "tap", "observe", "view",
            "connect", "handle middleware", "handle delay", "handle tap", "handle connect",
            "kept connect",
        ])
    func outlived(_ kind: String) throws {
        let executor = HandExecutor()
        weak var root: AnyNode?
        weak var tree: Tree?
        weak var held: Notes?
        func begin() throws -> (token: AnyObject, input: AsyncStream<Void>.Continuation) {
            let (store, notes) = (Store(Adder(), executor: executor), Notes())
            (root, tree, held) = (store.node, store.tree, notes)
            let (stream, input) = AsyncStream.makeStream(of: Void.self)
            let actions = stream.map { _ in
                notes.add("read")
                return Adder.Action.add(1)
            }
            let note = Middleware<Adder> { _, _, _ in notes.add("run") }
            let tap = NodeTap<Adder>(mutation: { _, _ in notes.add("told") })
            let token: AnyObject =
                switch kind {
                case "middleware": store.addMiddleware(note)
                case "debounce": store.addMiddleware(note.debounce(.seconds(60)))
                case "delay": store.addMiddleware(note.delay(.seconds(60)))
                case "takeLatest": store.addMiddleware(note.takeLatest())
                case "tap": store.addTap(tap)
                case "observe": store.observe { _ in notes.add("seen") }
                case "view": store.scoped(to: \.sum).observe { _ in notes.add("seen") }
                case "connect", "kept connect": store.connect(actions)
                case "handle middleware":
                    store.handle.addMiddleware(Middleware { _, _, _ in notes.add("run") })
                case "handle delay":
                    store.handle.addMiddleware(
                        Middleware { _, _, _ in notes.add("run") }.delay(.seconds(60)))
                case "handle tap":
                    store.handle.addTap(NodeTap(mutation: { _, _ in notes.add("told") }))
                default: store.handle.connect(actions)
                }
            if kind == "kept connect" { (token as? StoreToken)?.keep() }
            store.drain()
            try store.dispatch(.add(1))
            _ = executor.run()
            store.drain()
            return (token, input)
        }
        let begun = try begin()
        _ = executor.run()
        #expect(root == nil && tree == nil && held == nil)
        withExtendedLifetime(begun) {}
    }

    @Test("F47: perform returns when the action's effects have ended, or the action was refused")
    func perform() async throws {
        let store = Store(Adder())
        let handle = store.handle
        let task = Task { () -> Rejection? in
            try await handle.perform(.addLater(5))
            do throws(Rejection) {
                try await handle.perform(.refuse)
                return nil
            } catch {
                return error
            }
        }
        let ended = Guarded(false)
        Task {
            _ = await task.result
            ended.withLock { $0 = true }
        }
        while !ended.withLock({ $0 }) {
            store.drain()
            await Task.yield()
        }
        #expect(try await task.value == Rejection("refused", "no"))
        #expect(store.state.seen == [5])
    }

    @Test("F47: a cancelled perform cancels the action's effects")
    func cancelled() async throws {
        let bench = StoreBench(Waiter())
        let handle = bench.store.handle
        let task = Task(executorPreference: bench.executor) { try await handle.perform(.wait(1)) }
        bench.settle()
        #expect(bench.clock.sleeperCount == 1)
        task.cancel()
        bench.settle()
        #expect(bench.clock.sleeperCount == 0)
        try await task.value
        #expect(bench.state.log == [])
    }

    @Test("a caller that waits for a released store gets an error")
    func gone() async throws {
        var store: Store<Adder>? = Store(Adder())
        let handle = try #require(store?.handle)
        let executor = HandExecutor()
        let task = Task(executorPreference: executor) {
            await #expect(throws: Rejection(.notFound, "/ is gone")) {
                try await handle.perform(.add(1))
            }
        }
        _ = executor.run()
        #expect(store?.sequence == 0)
        store = nil
        _ = executor.run()
        _ = await task.value
    }
}
