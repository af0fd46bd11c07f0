import ReactorLoop
import Testing

@Suite struct LoopActorTests {
    @Test("a conforming actor runs on its loop without naming an executor")
    func runsOnTheLoop() async throws {
        try await withLoopThread { handle in
            let counter = LoopCounter(handle)
            for _ in 0..<1_000 { await counter.increment() }
            #expect(await counter.count == 1_000)
            #expect(await counter.isOnLoop)
            #expect(!handle.isOnLoop)
        }
    }

    @Test("a loop callback may assume the isolation of an actor of the loop")
    func callbacksAssumeIsolation() throws {
        let loop = try EventLoop()
        defer { loop.close() }
        let counter = LoopCounter(loop.handle)
        let timer = try LoopTimer(on: loop)
        var count = 0
        timer.onFire = { count = counter.assumeIsolated { $0.incremented() } }
        timer.start(after: .zero)
        try loop.turn { count == 1 }
    }

    @Test("assuming its isolation outside the loop traps")
    func trapsOutside() async {
        await #expect(processExitsWith: .failure) {
            let loop = try EventLoop()
            assumeTooMuch(of: LoopCounter(loop.handle))
        }
    }
}

/// Assumes an isolation that the caller does not have.
private func assumeTooMuch(of counter: LoopCounter) {
    counter.assumeIsolated { _ = $0.incremented() }
}
