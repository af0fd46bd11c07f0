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
    func dropped() {
        let executor = HandExecutor()
        let read = Notes()
        var relay: StateRelay? = StateRelay(1)
        let stream = relay?.values
        let reader = Task(executorPreference: executor) {
            guard let stream else { return }
            for await value in stream { read.add("\(value)") }
            read.add("end")
        }
        _ = executor.run()
        relay?.accept(2)
        relay = nil
        _ = executor.run()
        #expect(read.all == ["1", "2"] && relay == nil)
        reader.cancel()
        _ = executor.run()
        #expect(read.all == ["1", "2", "end"])
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
