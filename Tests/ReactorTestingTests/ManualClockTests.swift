import ReactorCore
import ReactorTesting
import ReactorThreads
import Testing

@Suite("A clock that a test advances")
struct ManualClockTests {
    private let clock = ManualClock()
    private let executor = ManualExecutor()
    private let woken = Guarded<[String]>([])

    private func nap(_ name: String, for duration: Duration) -> Task<Void, any Error> {
        Task(executorPreference: executor) { [clock, woken] in
            let nap: @Sendable (Duration) async throws -> Void = TreeClock(clock).sleep(for:)
            try await nap(duration)
            woken.withLock { $0.append("\(name) at \(clock.now.offset)") }
        }
    }

    @Test("F81: sleepers wake in the order of their deadlines, and none wakes early")
    func order() {
        _ = nap("c", for: .seconds(3))
        _ = nap("a", for: .seconds(1))
        _ = nap("b", for: .seconds(1))
        clock.advance(by: .milliseconds(999)) { executor.run() }
        #expect(woken.withLock { $0 } == [])
        #expect(clock.sleeperCount == 3)
        #expect(clock.nextDeadline == ManualClock.Instant(offset: .seconds(1)))
        clock.advance(by: .seconds(5)) { executor.run() }
        #expect(
            woken.withLock { $0 } == [
                "a at 1.0 seconds", "b at 1.0 seconds", "c at 3.0 seconds",
            ])
        #expect(clock.now.offset == .milliseconds(5_999))
        #expect(clock.nextDeadline == nil)
    }

    @Test("F81: a cancelled sleeper wakes immediately, and throws")
    func cancel() async {
        let task = nap("a", for: .seconds(1))
        executor.run()
        #expect(clock.sleeperCount == 1)
        task.cancel()
        #expect(clock.sleeperCount == 0)
        executor.run()
        await #expect(throws: CancellationError.self) { try await task.value }
        let early = nap("b", for: .seconds(1))
        early.cancel()
        executor.run()
        await #expect(throws: CancellationError.self) { try await early.value }
        #expect(woken.withLock { $0 } == [])
    }

    @Test("a sleep until the past returns immediately")
    func past() async {
        let task = nap("a", for: .zero)
        executor.run()
        _ = await task.result
        #expect(woken.withLock { $0 } == ["a at 0.0 seconds"])
    }
}
