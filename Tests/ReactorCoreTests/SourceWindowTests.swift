import ReactorThreads
import Testing

@testable import ReactorCore

/// Yields the same action for ever, and counts how often it was asked.
private struct Flood: AsyncSequence, Sendable {
    var asked = Guarded(0)

    struct AsyncIterator: AsyncIteratorProtocol {
        var asked: Guarded<Int>

        mutating func next() async -> Adder.Action? {
            asked.withLock { $0 += 1 }
            return .add(1)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(asked: asked) }
}

@Suite("What is read of a source")
struct SourceWindowTests {
    @Test("F26: what waits in a source when its token goes is not dispatched")
    func ended() {
        for inbox in [false, true] {
            let bench = StoreBench(Adder())
            let (stream, input) = AsyncStream.makeStream(of: Adder.Action.self)
            for _ in 0..<100 { input.yield(.add(1)) }
            var token: StoreToken? = bench.store.connect(stream)
            // Some of them wait for the store then, and the others in the source.
            if inbox { _ = bench.executor.run() }
            #expect(token != nil)
            token = nil
            bench.settle()
            #expect(bench.state.seen == [])
        }
    }

    @Test("F26: a token that goes while the source is read ends it there")
    func endedMidway() {
        let bench = StoreBench(Adder())
        let (stream, input) = AsyncStream.makeStream(of: Adder.Action.self)
        for _ in 0..<10 { input.yield(.add(1)) }
        var token: ReactorToken? = bench.store.handle.connect(stream)
        let observation = bench.store.observe { state in if state.sum == 3 { token = nil } }
        bench.settle()
        #expect(bench.state.sum == 3 && token == nil)
        withExtendedLifetime(observation) {}
    }

    @Test("F26: a source is read no faster than what it yields is applied")
    func connected() {
        let bench = StoreBench(Adder())
        let flood = Flood()
        let token = bench.store.connect(flood)
        _ = bench.executor.run()
        #expect(flood.asked.withLock { $0 } == CoreLimits.sourcedValuesMax + 1)
        bench.store.drain()
        #expect(bench.state.sum == CoreLimits.sourcedValuesMax)
        _ = bench.executor.run()
        #expect(flood.asked.withLock { $0 } <= 2 * CoreLimits.sourcedValuesMax + 1)
        withExtendedLifetime(token) {}
    }

    @Test("F25: a source that is merged in is read no faster than what it yields is applied")
    func merged() {
        let flood = Flood()
        let bench = StoreBench(Adder(actions: { $0.merging(flood) }))
        _ = bench.executor.run()
        #expect(flood.asked.withLock { $0 } == CoreLimits.sourcedValuesMax + 1)
        bench.store.drain()
        #expect(bench.state.sum == CoreLimits.sourcedValuesMax)
    }

    @Test("F26: a source is read no more when its store has gone")
    func gone() {
        let executor = HandExecutor()
        let flood = Flood()
        var store: Store<Adder>? = Store(Adder(), executor: executor)
        let token = store?.connect(flood)
        _ = executor.run()
        store = nil
        // Each of the places comes free with the job that is dropped.
        _ = executor.run()
        #expect(flood.asked.withLock { $0 } == CoreLimits.sourcedValuesMax + 1)
        withExtendedLifetime(token) {}
    }

    @Test("F26: a source whose reactor was removed is read no more")
    func removed() throws {
        let bench = StoreBench(Office())
        try bench.send(.open("a"))
        let flood = Flood()
        let room = try bench.store.reactor(Tracker.self, at: "/rooms/a")
        let token = room.handle.connect(flood.map { _ in Tracker.Action.add(1) })
        try bench.send(.close("a"))
        #expect(flood.asked.withLock { $0 } == CoreLimits.sourcedValuesMax + 1)
        withExtendedLifetime(token) {}
    }
}
