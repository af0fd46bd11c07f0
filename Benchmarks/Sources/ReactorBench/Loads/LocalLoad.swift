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

        let store = Store(Counter())
        for _ in 0..<1_000 { try store.dispatch(.increment(by: 1)) }
        let allocationsBefore = bench_allocation_count()
        let storeTime = try perCall { try store.dispatch(.increment(by: 1)) }
        let allocations = bench_allocation_count() - allocationsBefore
        guard store.state.count == Int64(count) + 1_000 else {
            throw LoadError("store: expected \(count + 1_000), got \(store.state.count)")
        }
        tell([
            ("read", readTime), ("store", storeTime),
            ("allocations", Double(allocations) / Double(count)),
            // because a sum that nobody asks for need not be computed
            ("sum", Double(sum)),
        ])
    }

    /// Nanoseconds that a call of `body` takes.
    private func perCall(_ body: () throws -> Void) rethrows -> Double {
        let clock = Monotonic()
        let start = clock.now
        for _ in 0..<count { try body() }
        return Double(clock.now - start) / Double(count)
    }
}
