import Testing

@testable import ReactorCore

@Suite("StateRelay", .timeLimit(.minutes(10)))
struct StateRelayTests {
    @Test("F83: a reader gets the current value, then each new one, including equal ones")
    func replays() async {
        let relay = StateRelay(1)
        relay.accept(2)
        var reader = relay.values.makeAsyncIterator()
        relay.accept(2)
        relay.update { $0 += 5 }
        #expect(await reader.next() == 2)
        #expect(await reader.next() == 2)
        #expect(await reader.next() == 7)
        var late = relay.values.makeAsyncIterator()
        #expect(await late.next() == 7 && relay.value == 7)
    }

    @Test("F83: a released relay ends no reader: each waits until it is cancelled")
    func dropped() async {
        let (values, kept) = AsyncStream.makeStream(of: Int?.self)
        var relay: StateRelay? = StateRelay(1)
        let stream = relay?.values
        let reader = Task {
            guard let stream else { return }
            for await value in stream { kept.yield(value) }
            kept.yield(Task.isCancelled ? nil : -1)
        }
        var iterator = values.makeAsyncIterator()
        #expect(await iterator.next() == 1)
        relay?.accept(2)
        relay = nil
        #expect(await iterator.next() == 2)
        // A reader that had ended with the relay would report that before its cancellation.
        for _ in 0..<100 { await Task.yield() }
        reader.cancel()
        #expect(await iterator.next() == .some(nil))
        #expect(relay == nil)
    }

    @Test("F83: a relay does not complete while it exists, and drops cancelled readers")
    func readers() async {
        let relay = StateRelay("a")
        var stream: AsyncStream<String>? = relay.values
        #expect(relay.readerCount == 1)
        stream = nil
        #expect(relay.readerCount == 0 && stream == nil)
        relay.accept("b")
        #expect(relay.value == "b")
    }
}
