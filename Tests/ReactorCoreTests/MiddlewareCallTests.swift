import ReactorThreads
import Testing

@testable import ReactorCore

@Suite("Adding and removing middleware")
struct MiddlewareCallTests {
    /// Middleware that dispatches `add(100 + n)` after `add(n)`, and calls `seen`.
    private func answering(_ seen: @escaping (Int) -> Void) -> Middleware<Adder> {
        Middleware { _, action, dispatch in
            guard case .add(let number) = action, number < 100 else { return }
            seen(number)
            dispatch(.add(100 + number))
        }
    }

    @Test(
        "F28: actions waiting in debounced and delayed middleware are dropped with its token",
        arguments: [true, false])
    func waiting(isDebounced: Bool) throws {
        let bench = StoreBench(Adder())
        var seen: [Int] = []
        let middleware = answering { seen.append($0) }
        var token: StoreToken? = bench.store.addMiddleware(
            isDebounced ? middleware.debounce(.seconds(1)) : middleware.delay(.seconds(1)))
        try bench.send(.add(1))
        #expect(bench.clock.sleeperCount == 1 && token != nil)
        token = nil
        bench.settle()
        #expect(bench.clock.sleeperCount == 0 && bench.store.core.tree.effects.running.isEmpty)
        bench.advance(by: .seconds(2))
        #expect(seen == [] && bench.state.seen == [1])
    }

    @Test("F28: late dispatches of middleware are dropped with its token")
    func late() throws {
        let bench = StoreBench(Adder())
        let held = Guarded<[Middleware<Adder>.Dispatch]>([])
        var token: StoreToken? = bench.store.addMiddleware(
            Middleware { _, _, dispatch in held.withLock { $0.append(dispatch) } })
        try bench.send(.add(1))
        let dispatch = try #require(held.withLock { $0.first })
        dispatch(.add(2))
        #expect(token != nil)
        token = nil
        dispatch(.add(3))
        bench.settle()
        #expect(bench.state.seen == [1])
    }

    @Test("F27: middleware's callbacks dispatch from any thread, while it runs and later")
    func threads() async throws {
        let bench = StoreBench(Adder())
        let held = Guarded<Middleware<Adder>.Dispatch?>(nil)
        let token = bench.store.addMiddleware(
            Middleware { _, action, dispatch in
                guard action == .add(1) else { return }
                dispatch(.add(2))
                held.withLock { $0 = dispatch }
            })
        try bench.store.dispatch(.add(1))
        #expect(bench.state.seen == [1, 2])
        let dispatch = try #require(held.withLock { $0 })
        await Task.detached { dispatch(.add(3)) }.value
        #expect(bench.state.seen == [1, 2])
        bench.store.drain()
        #expect(bench.state.seen == [1, 2, 3])
        withExtendedLifetime(token) {}
    }

    @Test("F28: middleware that keeps its arguments retains neither node nor store")
    func holdsNothing() throws {
        var dispatches: [Middleware<Adder>.Dispatch] = []
        let hoarding = Middleware<Adder> { _, _, dispatch in dispatches.append(dispatch) }
        let all: [Middleware<Adder>] = [
            hoarding, hoarding.delay(.seconds(1)), hoarding.debounce(.seconds(1)),
            hoarding.takeLatest(),
        ]
        weak var node: Node<Adder>?
        weak var tree: Tree?
        do {
            let bench = StoreBench(Adder(middleware: all))
            try bench.send(.add(4))
            node = bench.store.node
            tree = bench.store.core.tree
            #expect(dispatches.count == 2 && node != nil && tree != nil)
        }
        #expect(node == nil && tree == nil)
        // These dispatches have no effect.
        for dispatch in dispatches { dispatch(.add(1)) }
        withExtendedLifetime(all) {}
    }

    @Test("F29: one middleware has separate timers and windows in each reactor")
    func shared() throws {
        var seen: [Int] = []
        let record = Middleware<Adder> { _, action, _ in
            if case .add(let number) = action { seen.append(number) }
        }
        for middleware in [record.debounce(.seconds(1)), record.throttle(.seconds(1))] {
            seen = []
            let benches = [
                StoreBench(Adder(middleware: [middleware])),
                StoreBench(Adder(middleware: [middleware])),
            ]
            try benches[0].send(.add(1))
            try benches[1].send(.add(2))
            for bench in benches { bench.advance(by: .seconds(1)) }
            #expect(seen == [1, 2])
        }
    }

    @Test("F28: middleware removed by an earlier one does not see the action")
    func takenAwayMidway() throws {
        let bench = StoreBench(Adder())
        var tokens: [StoreToken] = []
        var count = 0
        let first = bench.store.addMiddleware(Middleware { _, _, _ in tokens = [] })
        tokens.append(bench.store.addMiddleware(Middleware { _, _, _ in count += 1 }))
        try bench.send(.add(1))
        #expect(count == 0)
        withExtendedLifetime(first) {}
    }
}
