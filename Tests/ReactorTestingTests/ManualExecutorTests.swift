import ReactorCore
import ReactorTesting
import ReactorThreads
import Testing

@Suite("Jobs that a test runs")
struct ManualExecutorTests {
    @Test("F81: nothing runs by itself, and then all in the order in which it came")
    func order() {
        let executor = ManualExecutor()
        let ran = Guarded<[Int]>([])
        for number in 0..<20 {
            Task(executorPreference: executor) {
                ran.withLock { $0.append(number) }
                await Task.yield()
                ran.withLock { $0.append(number + 100) }
            }
        }
        #expect(!executor.isIdle)
        #expect(ran.withLock { $0.isEmpty })
        executor.run()
        #expect(executor.isIdle)
        #expect(ran.withLock { $0 } == Array(0..<20) + Array(100..<120))
    }

    @Test("F81: a store's effects run on it, by a clock that stands until it is moved")
    func store() throws {
        let (clock, executor) = (ManualClock(), ManualExecutor())
        let store = Store(Search(), clock: TreeClock(clock), executor: executor)
        try store.dispatch(.type("a"))
        store.settle(executor)
        clock.advance(by: .milliseconds(299)) { store.settle(executor) }
        #expect(store.state.result == "")
        clock.advance(by: .milliseconds(1)) { store.settle(executor) }
        #expect(store.state.result == "A")
    }
}
