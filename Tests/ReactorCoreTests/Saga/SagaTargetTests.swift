import Testing

@testable import ReactorCore

@Suite("SagaTarget")
struct SagaTargetTests {
    private let bench = StoreBench(Office())

    private func tracker() throws -> Node<Tracker> {
        let slice = try SlicePath("/tracker")
        return try #require(bench.store.core.tree.node(at: slice) as? Node<Tracker>)
    }

    @Test("F32: a saga that looks up reactors in a loop keeps none that it released")
    func loops() throws {
        for key in ["a", "b"] { try bench.send(.open(key)) }
        let handle = bench.run { saga in
            for _ in 0..<50 {
                for path in ["/tracker", "/rooms/a", "/rooms/b"] {
                    let place = try await saga.reactor(Tracker.self, at: path)
                    try await place.put(.add(1))
                }
            }
            _ = try await saga.take(where: { $0 == .open("c") })
        }
        #expect(handle.isRunning)
        #expect(try tracker().state.sum == 50)
        #expect(try !tracker().takesLongWay)
        #expect(handle.scope.keptCount == 1)
    }

    @Test("F32: an effect begun at another reactor retains it until the effect ends")
    func begun() throws {
        let handle = bench.run { saga in
            func greet() async throws -> SagaHandle<Void> {
                let tracker = try await saga.reactor(Tracker.self, at: "/tracker")
                return tracker.takeEvery(Tracker.text) { tracker, text in
                    try await tracker.put(.run("hello \(text)"))
                }
            }
            let greeting = try await greet()
            _ = try await saga.take(where: { $0 == .open("a") })
            greeting.cancel()
            _ = try await saga.take(where: { $0 == .open("b") })
        }
        bench.send(Tracker.Action.search("you"), to: "/tracker")
        #expect(try tracker().state.runs == ["hello you"])
        #expect(try tracker().takesLongWay)
        try bench.send(.open("a"))
        // References released by a job's end are returned in the next round.
        bench.settle()
        #expect(try !tracker().takesLongWay && handle.isRunning)
    }
}
