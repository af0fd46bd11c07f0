import ReactorThreads
import Testing

@testable import ReactorCore

/// Yields the same action forever, and counts the requests.
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

@Suite("Reading from a source")
struct SourceWindowTests {
    @Test("F26: values waiting in a source when its token is released are not dispatched")
    func ended() {
        for inbox in [false, true] {
            let bench = StoreBench(Adder())
            let (stream, input) = AsyncStream.makeStream(of: Adder.Action.self)
            for _ in 0..<100 { input.yield(.add(1)) }
            var token: StoreToken? = bench.store.connect(stream)
            // Some of the values then wait in the store, and the others in the source.
            if inbox { _ = bench.executor.run() }
            #expect(token != nil)
            token = nil
            bench.settle()
            #expect(bench.state.seen == [])
        }
    }

    @Test("F26: a token released while the source is read ends the reading")
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

    @Test("F26: a source is read no faster than its values are applied")
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

    @Test("F25: a merged source is read no faster than its values are applied")
    func merged() {
        let flood = Flood()
        let bench = StoreBench(Adder(actions: { $0.merging(flood) }))
        _ = bench.executor.run()
        #expect(flood.asked.withLock { $0 } == CoreLimits.sourcedValuesMax + 1)
        bench.store.drain()
        #expect(bench.state.sum == CoreLimits.sourcedValuesMax)
    }

    @Test("F26: a source is not read any more after its store was released")
    func gone() {
        let executor = HandExecutor()
        let flood = Flood()
        var store: Store<Adder>? = Store(Adder(), executor: executor)
        let token = store?.connect(flood)
        _ = executor.run()
        store = nil
        // Each dropped job makes room for another value in the window.
        _ = executor.run()
        #expect(flood.asked.withLock { $0 } == CoreLimits.sourcedValuesMax + 1)
        withExtendedLifetime(token) {}
    }

    @Test("F26: a source is released with its reactor, and when it ends, while its token lives")
    func released() throws {
        let bench = StoreBench(Office())
        try bench.send(.open("a"))
        let room = try bench.store.reactor(Tracker.self, at: "/rooms/a")
        let (stream, input) = AsyncStream.makeStream(of: Int.self)
        weak var held: Notes?
        func connect() -> StoreToken {
            let notes = Notes()
            held = notes
            return room.connect(
                stream.map { number in
                    notes.add("\(number)")
                    return Tracker.Action.add(number)
                })
        }
        let token = connect()
        input.yield(2)
        bench.settle()
        #expect(room.state.sum == 2 && held?.all == ["2"])
        try bench.send(.close("a"))
        #expect(held == nil && bench.store.tree.sources.isEmpty)
        let ended = bench.store.connect(Numbers(values: []).map { _ in Office.Action.open("b") })
        #expect(bench.store.tree.sources.isEmpty)
        bench.store.drain()
        #expect(!bench.store.tree.sources.isEmpty)
        bench.settle()
        #expect(bench.store.tree.sources.isEmpty)
        withExtendedLifetime((token, ended)) {}
    }

    @Test("F26: a source is not read any more after its reactor was removed")
    func removed() throws {
        let bench = StoreBench(Office())
        try bench.send(.open("a"))
        let flood = Flood()
        let room = try bench.store.reactor(Tracker.self, at: "/rooms/a")
        let token = room.handle.connect(flood.map { _ in Tracker.Action.add(1) })
        _ = bench.executor.run()
        try bench.send(.close("a"))
        #expect(flood.asked.withLock { $0 } == CoreLimits.sourcedValuesMax + 1)
        withExtendedLifetime(token) {}
    }
}
