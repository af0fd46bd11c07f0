import ArgumentParser
import CBench
import ReactorClient
import ReactorCore
import ReactorLoop
import StockReactors

/// Operations without I/O: reading a mirror, and dispatching to a store in the same process.
struct LocalLoad: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "local")

    @OptionGroup var options: LoadOptions

    @Option(help: "Number of repetitions.")
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
        // Measures again afterwards: a removed middleware must not cost anything.
        var token: StoreToken? = store.addMiddleware(Middleware { _, _, _ in })
        try store.dispatch(.increment(by: 1))
        let middlewareTime = try perCall { try store.dispatch(.increment(by: 1)) }
        token = nil
        let afterTime = try perCall { try store.dispatch(.increment(by: 1)) }
        precondition(token == nil)
        let (sagaTime, sagaEndedTime) = try sagaTimes(store)
        let (observerTime, unobservedTime) = try observerTimes(store)
        report([
            ("read", readTime), ("store", storeTime),
            ("middleware", middlewareTime), ("after", afterTime),
            ("saga", sagaTime), ("sagaEnded", sagaEndedTime),
            ("observer", observerTime), ("unobserved", unobservedTime),
            ("allocations", Double(allocations) / Double(count)),
            // Reported, so that the compiler cannot remove the computation.
            ("sum", Double(sum)),
        ])
    }

    /// Nanoseconds per dispatch with a saga that takes none of the actions, and after the saga
    /// has ended.
    private func sagaTimes(_ store: Store<Counter>) throws -> (Double, Double) {
        let handle = store.runSaga { saga in
            saga.takeEvery(where: { $0 == .reset }) { _, _ in }
            try await saga.put(.increment(by: 1))
        }
        // The saga's `put` arrives once the saga listens.
        let sequence = store.sequence
        while store.sequence == sequence { store.drain() }
        let sagaTime = try perCall { try store.dispatch(.increment(by: 1)) }
        handle.cancel()
        while handle.isRunning { store.drain() }
        // Processes the jobs that the saga's end has posted.
        store.drain()
        return (sagaTime, try perCall { try store.dispatch(.increment(by: 1)) })
    }

    /// Nanoseconds per dispatch with one observer of the state, and after its removal.
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

    /// Checks that the count includes the runtime's allocations; otherwise the result would
    /// always be zero.
    private func checkAllocationCount() throws {
        let before = bench_allocation_count()
        let boxes = (0..<100).map { Box(number: $0) }
        let sum = boxes.reduce(0) { $0 + $1.number }
        guard sum > 0, bench_allocation_count() >= before + 100 else {
            throw LoadError("allocations: the count does not see those of the runtime")
        }
    }

    /// Nanoseconds per call of `body`.
    private func perCall(_ body: () throws -> Void) rethrows -> Double {
        let clock = Monotonic()
        let start = clock.now
        for _ in 0..<count { try body() }
        return Double(clock.now - start) / Double(count)
    }
}

/// An object on the heap.
private final class Box {
    let number: Int

    init(number: Int) { self.number = number }
}
