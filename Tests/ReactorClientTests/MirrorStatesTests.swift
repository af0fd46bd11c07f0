import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

@Suite("MirrorStates", .timeLimit(.minutes(10)))
struct MirrorStatesTests {
    private typealias Counter = StockReactors.Counter

    @Test("the sequence starts with the current value, then yields each that differs from the last")
    func values() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        var counts = visits.states(\.count).makeAsyncIterator()
        #expect(await counts.next() == 0)
        _ = await visits.dispatch(.reset)
        _ = await visits.dispatch(.increment(by: 2))
        #expect(await counts.next() == 2)
        _ = await visits.dispatch(.increment(by: 1))
        _ = await visits.dispatch(.decrement(by: 1))
        _ = await visits.dispatch(.increment(by: 5))
        #expect(await counts.next() == 7)
        client.close()
    }

    @Test("a reader that sends an action at its first value reads the result")
    func actingAtOnce() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        var seen: [Int64] = []
        for await count in visits.states(\.count) {
            if count == 0 { visits.send(.increment(by: 1)) }
            seen.append(count)
            if seen.count == 2 { break }
        }
        #expect(seen == [0, 1])
        client.close()
    }

    @Test("under concurrent writes no value is repeated, and the last one arrives")
    func noDuplicates() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let first = Notes<Bool>()
        let reader = Task {
            var counts: [Int64] = []
            for await state in visits.states() {
                counts.append(state.count)
                if counts.count == 1 { first.add(true) }
            }
            return counts
        }
        await first.until(1)
        var random = Seed(84)
        for _ in 0..<300 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: visits.send(.reset)
            case 1: visits.send(.increment(by: 0))
            default: visits.send(.increment(by: 1))
            }
        }
        visits.send(.increment(by: 1_000))
        try await client.drain()
        let last = visits.count
        client.close()
        let counts = await reader.value
        #expect(counts.first == 0 && counts.last == last)
        #expect(zip(counts, counts.dropFirst()).allSatisfy { $0 != $1 })
    }

    @Test("the sequence ends after the last value when the client is closed")
    func end() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        var counts = visits.states(\.count).makeAsyncIterator()
        #expect(await counts.next() == 0)
        _ = await visits.dispatch(.increment(by: 4))
        client.close()
        await visits.until { $0.phase == .failed(.ended) }
        #expect(await counts.next() == 4)
        #expect(await counts.next() == nil)
        var late = visits.states(\.count).makeAsyncIterator()
        #expect(await late.next() == 4)
        #expect(await late.next() == nil)
    }

    @Test("a cancelled reader is released")
    func cancellation() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let started = Notes<Bool>()
        let reader = Task {
            var count = 0
            for await _ in visits.states(\.count) {
                count += 1
                started.add(true)
            }
            return count
        }
        await started.until(1)
        reader.cancel()
        #expect(await reader.value == 1)
        client.close()
    }

    @Test("C92: a reader that throws ends alone")
    func throwingReader() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let thrown = Task {
            for await count in visits.states(\.count) where count > 1 { throw CancellationError() }
        }
        var others = visits.states(\.count).makeAsyncIterator()
        #expect(await others.next() == 0)
        #expect(await visits.dispatch(.increment(by: 2)).revision != nil)
        await #expect(throws: CancellationError.self) { try await thrown.value }
        #expect(await others.next() == 2)
        #expect(await visits.dispatch(.increment(by: 3)).revision != nil)
        #expect(await others.next() == 5)
        client.close()
    }

    @Test("C92: a slow reader delays no other, and then gets the latest value")
    func slowReader() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let started = Notes<Bool>()
        let gate = Gate()
        let reader = Task {
            var counts: [Int64] = []
            for await count in visits.states(\.count) {
                counts.append(count)
                started.add(true)
                await gate.pass()
                if count == 50 { break }
            }
            return counts
        }
        await started.until(1)
        for _ in 0..<50 { _ = await visits.dispatch(.increment(by: 1)) }
        gate.open()
        #expect(await reader.value == [0, 50])
        client.close()
    }
}
