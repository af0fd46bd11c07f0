import ReactorThreads
import Testing

@testable import ReactorCore

@Suite("Sending to a store")
struct StoreSendingTests {
    @Test("F47: perform returns when the action's effects have ended")
    func perform() async throws {
        let store = Store(Adder())
        try await store.perform(.addLater(5))
        #expect(store.state.seen == [5])
        await #expect(throws: Rejection("refused", "no")) { try await store.perform(.refuse) }
        #expect(store.core.tree.effects.running.isEmpty)
    }

    @Test("F47: a cancelled perform cancels the action's effects")
    func cancelledPerform() async throws {
        let clock = HandClock()
        let task = Task { () -> [String] in
            let store = Store(Waiter(), clock: TreeClock(clock))
            try await store.perform(.wait(1))
            return store.state.log
        }
        task.cancel()
        #expect(try await task.value == [])
        #expect(clock.sleeperCount == 0)
    }

    @Test("F46: send applies an action and reports no refusal")
    func send() {
        let store = Store(Adder())
        store.send(.add(1))
        store.send(.refuse)
        store.send(.add(2))
        #expect(store.state.seen == [1, 2])
    }

    @Test("F17: an injected mutation bypasses mutate and the transform of mutations")
    func inject() throws {
        let bench = StoreBench(
            Adder(
                mutations: { $0.map { _ in .added(-1) } },
                states: { $0.map { Adder.State(sum: -$0.sum, seen: $0.seen) } }))
        bench.store.inject(.added(5))
        #expect(bench.state == Adder.State(sum: -5, seen: [5]))
        #expect(bench.store.sequence == 1)
        bench.store.handle.inject(.added(6))
        bench.settle()
        #expect(bench.state.seen == [5, 6])
        try bench.send(.add(1))
        #expect(bench.state.seen == [5, 6, -1])
    }

    @Test("F26: a connected stream is a source of actions until its token is released")
    func connect() async throws {
        let bench = StoreBench(Adder())
        let (stream, input) = AsyncStream.makeStream(of: Adder.Action.self)
        var token: StoreToken? = bench.store.connect(stream)
        input.yield(.add(1))
        input.yield(.refuse)
        input.yield(.add(2))
        bench.settle()
        #expect(bench.state.seen == [1, 2])
        #expect(token != nil)
        token = nil
        bench.settle()
        input.yield(.add(3))
        bench.settle()
        #expect(bench.state.seen == [1, 2])
    }

    @Test("F82: a failing connected stream ends nothing else")
    func failingConnect() throws {
        let bench = StoreBench(Adder())
        let token = bench.store.connect(Numbers(values: [.add(1)], fails: true))
        bench.settle()
        try bench.send(.add(2))
        #expect(bench.state.seen == [1, 2])
        withExtendedLifetime(token) {}
    }

    @Test("F45: concurrent senders on many threads lose nothing")
    func concurrentSenders() async {
        let store = Store(Adder())
        let handle = store.handle
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<500 { handle.send(.add(1)) } }
            }
        }
        store.drain()
        #expect(store.state.sum == 4_000)
        #expect(store.sequence == 4_000)
    }

    @Test("F42: all reducing happens on the store's isolation, one action after another")
    func oneExecutor() async throws {
        let store = Store(Adder())
        let handle = store.handle
        let senders = Task { for number in 1...100 { handle.send(.addLater(number)) } }
        await senders.value
        let runner = Task { [handle] in handle.send(.add(0)) }
        await runner.value
        while store.state.seen.count < 101 {
            store.drain()
            await Task.yield()
        }
        #expect(store.state.sum == 5_050)
    }

    @Test("F44: a second thread inside a store is reported in debug builds")
    func misuse() {
        let store = Store(Adder())
        var complaints: [String] = []
        store.onComplaint = { complaints.append($0) }
        let token = store.observe { state in
            guard state.sum == 1 else { return }
            // The compiler refuses this, so the test bypasses its check.
            Self.onAnotherThread(Confined(store))
        }
        store.send(.add(1))
        withExtendedLifetime(token) {}
        #expect(complaints.count == 1)
        #expect(complaints.first?.contains("handle") == true)
    }

    private static func onAnotherThread(_ store: Confined<Store<Adder>>) {
        let thread = try? WorkThread(name: "misuse") { store.open().send(.add(10)) }
        thread?.join()
    }
}
