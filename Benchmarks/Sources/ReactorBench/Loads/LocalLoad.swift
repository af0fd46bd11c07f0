import ArgumentParser
import CBench
import ReactorClient
import ReactorCore
import ReactorLoop
import StockReactors

/// What costs no I/O: reading a mirror, and dispatching to a store in the same process.
struct LocalLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "local")

    @OptionGroup var options: LoadOptions

    @Option(help: "How often to do it.")
    var count = 5_000_000

    func run() throws {
        let loop = try EventLoop()
        let mirror = try LoopClient.connected(on: loop, options).keptAlive()
            .counter(at: "/counter")
        var sum: Int64 = 0
        let readTime = perCall { sum &+= mirror.state.count }

        try checkAllocationCount()
        let store = Store(Counter())
        for _ in 0..<1_000 { try store.dispatch(.increment(by: 1)) }
        let allocationsBefore = bench_allocation_count()
        let storeTime = try perCall { try store.dispatch(.increment(by: 1)) }
        let allocations = bench_allocation_count() - allocationsBefore
        guard store.state.count == Int64(count) + 1_000 else {
            throw LoadError("store: expected \(count + 1_000), got \(store.state.count)")
        }
        // because what came and went is to leave nothing behind
        var token: StoreToken? = store.addMiddleware(Middleware { _, _, _ in })
        try store.dispatch(.increment(by: 1))
        let middlewareTime = try perCall { try store.dispatch(.increment(by: 1)) }
        token = nil
        let afterTime = try perCall { try store.dispatch(.increment(by: 1)) }
        precondition(token == nil)
        let (sagaTime, sagaEndedTime) = try sagaTimes(store)
        let (observerTime, unobservedTime) = try observerTimes(store)
        tell([
            ("read", readTime), ("store", storeTime),
            ("middleware", middlewareTime), ("after", afterTime),
            ("saga", sagaTime), ("sagaEnded", sagaEndedTime),
            ("observer", observerTime), ("unobserved", unobservedTime),
            ("allocations", Double(allocations) / Double(count)),
            // because a sum that nobody asks for need not be computed
            ("sum", Double(sum)),
        ])
    }

    /// What a dispatch costs beside a saga that wants none of the actions, and once it has ended.
    private func sagaTimes(_ store: Store<Counter>) throws -> (Double, Double) {
        let handle = store.runSaga { saga in
            saga.takeEvery(where: { $0 == .reset }) { _, _ in }
            try await saga.put(.increment(by: 1))
        }
        // because what it puts comes when it listens
        let sequence = store.sequence
        while store.sequence == sequence { store.drain() }
        let sagaTime = try perCall { try store.dispatch(.increment(by: 1)) }
        handle.cancel()
        while handle.isRunning { store.drain() }
        // because the desk goes with what the end has posted
        store.drain()
        return (sagaTime, try perCall { try store.dispatch(.increment(by: 1)) })
    }

    /// What a dispatch costs with one observer of the state, and once that is gone.
    private func observerTimes(_ store: Store<Counter>) throws -> (Double, Double) {
        var last: Int64 = 0
        var token: StoreToken? = store.observe { last = $0.count }
        let observerTime = try perCall { try store.dispatch(.increment(by: 1)) }
        guard last == store.state.count else { throw LoadError("store: an observer was left out") }
        token = nil
        let unobservedTime = try perCall { try store.dispatch(.increment(by: 1)) }
        precondition(token == nil)
        return (observerTime, unobservedTime)
    }

    /// Refuses to report a number that would be zero whatever happened.
    private func checkAllocationCount() throws {
        let before = bench_allocation_count()
        let boxes = (0..<100).map { Box(number: $0) }
        let sum = boxes.reduce(0) { $0 + $1.number }
        guard sum > 0, bench_allocation_count() >= before + 100 else {
            throw LoadError("allocations: the count does not see those of the runtime")
        }
    }

    /// Nanoseconds that a call of `body` takes.
    private func perCall(_ body: () throws -> Void) rethrows -> Double {
        let clock = Monotonic()
        let start = clock.now
        for _ in 0..<count { try body() }
        return Double(clock.now - start) / Double(count)
    }
}

/// Something that lives on the heap.
private final class Box {
    let number: Int

    init(number: Int) { self.number = number }
}
