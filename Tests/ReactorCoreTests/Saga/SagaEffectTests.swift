import Testing

@testable import ReactorCore

/// Retries a failing body.
private struct Retry: SagaEffect {
    var times: Int
    var body: @Sendable (SagaContext<Tracker>) async throws -> Int

    func run(in saga: SagaContext<Tracker>) async throws -> Int {
        for left in (0..<times).reversed() {
            do { return try await saga.run(body) } catch  where left > 0 {
                try await saga.sleep(for: .seconds(1))
            }
        }
        throw Broken()
    }
}

@Suite("SagaEffect")
struct SagaEffectTests {
    @Test("F41: an author's effect is performed like a built-in one")
    func custom() throws {
        let bench = StoreBench(Tracker())
        let tries = Tick()
        let handle = bench.run { saga in
            try await saga.perform(
                Retry(times: 3) { saga in
                    tries.up()
                    if tries.count < 3 { throw Broken() }
                    return try await saga.select(\.sum) + 8
                })
        }
        bench.advance(by: .seconds(2))
        #expect(bench.outcome(of: handle) == "8")
        #expect(tries.count == 3 && bench.state.failures.isEmpty)
    }

    @Test("F41: type-erased effects can be combined in all and first")
    func erased() throws {
        let bench = StoreBench(Tracker())
        let handle = bench.run { saga in
            let retry = AnySagaEffect(Retry(times: 1) { _ in 1 })
            let wait = AnySagaEffect<Tracker, Int> { saga in
                try await saga.sleep(for: .seconds(1))
                return 2
            }
            return try await saga.all([retry, wait]) + [try await saga.first([wait, retry])]
        }
        bench.advance(by: .seconds(1))
        #expect(bench.outcome(of: handle) == "[1, 2, 1]")
    }
}
