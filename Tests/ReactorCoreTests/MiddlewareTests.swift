import Testing

@testable import ReactorCore

@Suite("Middleware")
struct MiddlewareTests {
    @Test("F27: middleware sees the state after the reduce, and its dispatches are never lost")
    func followers() throws {
        var seen: [String] = []
        let bench = StoreBench(
            Adder(middleware: [
                Middleware { state, action, dispatch in
                    seen.append("\(action) at \(state().sum)")
                    if action == .add(1) { dispatch(.add(10)) }
                }
            ]))
        try bench.send(.add(1))
        #expect(bench.state.seen == [1, 10])
        #expect(seen == ["add(1) at 1", "add(10) at 11"])
        #expect(bench.store.sequence == 2)
    }

    @Test("F27: a refused action reaches no middleware")
    func refused() {
        var count = 0
        let bench = StoreBench(Adder(middleware: [Middleware { _, _, _ in count += 1 }]))
        #expect(throws: Rejection.self) { try bench.send(.refuse) }
        #expect(count == 0)
    }

    @Test("F27: combined middleware runs in order")
    func combine() throws {
        var order: [Int] = []
        let bench = StoreBench(
            Adder(middleware: [
                .combine(
                    Middleware { _, _, _ in order.append(1) },
                    Middleware { _, _, _ in order.append(2) })
            ]))
        try bench.send(.add(1))
        #expect(order == [1, 2])
    }

    @Test("F28: middleware lasts as long as its token, and costs nothing after that")
    func tokens() throws {
        let bench = StoreBench(Adder())
        var count = 0
        var token: StoreToken? = bench.store.addMiddleware(Middleware { _, _, _ in count += 1 })
        try bench.send(.add(1))
        #expect(count == 1)
        #expect(token != nil)
        token = nil
        try bench.send(.add(1))
        #expect(count == 1)
        #expect(!bench.store.node.takesLongWay)
    }

    @Test("F30: filtered and mapped middleware sees its part of actions and state")
    func filterAndMap() throws {
        var seen: [String] = []
        let mapped = Middleware<Adder>.map(\.sum) { action -> Int? in
            if case .add(let number) = action { number } else { nil }
        } _: { sum, number, _ in
            seen.append("\(number) of \(sum())")
        }
        let filtered = Middleware<Adder> { _, action, _ in seen.append("\(action)") }
            .filter { $0 == .add(2) }
        let bench = StoreBench(Adder(middleware: [mapped, filtered]))
        try bench.send(.add(1))
        try bench.send(.add(2))
        try bench.send(.addLater(3))
        #expect(seen == ["1 of 1", "2 of 3", "add(2)"])
    }

    /// Middleware that dispatches `add(100 + n)` after `add(n)`.
    private func answering(_ seen: @escaping (Int) -> Void) -> Middleware<Adder> {
        Middleware { _, action, dispatch in
            guard case .add(let number) = action, number < 100 else { return }
            seen(number)
            dispatch(.add(100 + number))
        }
    }

    @Test("F29: debounced middleware runs once, with the last action, after the pause")
    func debounce() throws {
        var bodies: [Int] = []
        let middleware = answering { bodies.append($0) }
            .debounce(.seconds(1)).filter { $0 != .add(103) }
        let bench = StoreBench(Adder(middleware: [middleware]))
        for number in 1...3 {
            try bench.send(.add(number))
            bench.advance(by: .milliseconds(900))
        }
        #expect(bodies == [])
        bench.advance(by: .milliseconds(100))
        #expect(bodies == [3])
        #expect(bench.state.seen == [1, 2, 3, 103])
    }

    @Test("F29: throttled middleware runs for the first action of each window")
    func throttle() throws {
        var bodies: [Int] = []
        let bench = StoreBench(
            Adder(middleware: [
                Middleware { _, action, _ in
                    if case .add(let number) = action { bodies.append(number) }
                }.throttle(.seconds(1))
            ]))
        for number in 1...5 {
            try bench.send(.add(number))
            bench.advance(by: .milliseconds(400))
        }
        #expect(bodies == [1, 4])
    }

    @Test("F29: delayed middleware runs for every action, later")
    func delay() throws {
        var bodies: [Int] = []
        let middleware = answering { bodies.append($0) }.delay(.seconds(1))
        let bench = StoreBench(Adder(middleware: [middleware]))
        try bench.send(.add(1))
        try bench.send(.add(2))
        bench.advance(by: .milliseconds(999))
        #expect(bodies == [])
        bench.advance(by: .milliseconds(1))
        #expect(bodies == [1, 2])
        #expect(bench.state.seen == [1, 2, 101, 102])
    }

    @Test("F29: at the limit of effects, debounced and delayed runs wait for room")
    func room() throws {
        var (debounced, delayed): ([Int], [Int]) = ([], [])
        let bench = StoreBench(
            Adder(middleware: [
                answering { debounced.append($0) }.debounce(.seconds(1)),
                answering { delayed.append($0) }.delay(.seconds(1)),
            ]))
        let tree = bench.store.core.tree
        let blocker = bench.store.runSaga { saga in try await saga.sleep(for: .seconds(60)) }
        bench.settle()
        tree.effectsMax = 1
        try bench.send(.add(1))
        try bench.send(.add(2))
        bench.advance(by: .seconds(2))
        #expect(debounced == [] && delayed == [] && bench.complaints.isEmpty)
        blocker.cancel()
        bench.settle()
        bench.advance(by: .zero)
        bench.settle()
        #expect(debounced == [2] && delayed == [1, 2])
        // The answers pass the middleware as well.
        bench.advance(by: .seconds(2))
        #expect(tree.effects.running.isEmpty && tree.effects.waiting.isEmpty)
    }

    @Test("F29: takeLatest passes late dispatches only of the newest run")
    func takeLatest() throws {
        var held: [Middleware<Adder>.Dispatch] = []
        let bench = StoreBench(
            Adder(middleware: [
                Middleware<Adder> { _, _, dispatch in held.append(dispatch) }
                    .takeLatest().filter { $0 == .add(1) || $0 == .add(2) }
            ]))
        try bench.send(.add(1))
        try bench.send(.add(2))
        for (number, dispatch) in held.enumerated() { dispatch(.add(100 + number)) }
        try bench.send(.add(3))
        #expect(bench.state.seen == [1, 2, 3, 101])
    }

    @Test("F29: waiting middleware continues after its reactor's restart, without the old actions")
    func restarted() throws {
        var bodies: [Int] = []
        let bench = StoreBench(
            Adder(middleware: [answering { bodies.append($0) }.delay(.seconds(1))]))
        try bench.send(.add(1))
        bench.store.core.perform { tree in
            tree.root.restart(tree.turn)
            tree.finishEmission()
        }
        bench.advance(by: .seconds(2))
        #expect(bodies == [])
        try bench.send(.add(2))
        bench.advance(by: .seconds(2))
        #expect(bodies == [2])
    }

    @Test("F29: a burst of any length is debounced to one run, and starves no other work")
    func burst() throws {
        var bodies: [Int] = []
        let bench = StoreBench(
            Adder(middleware: [answering { bodies.append($0) }.debounce(.seconds(1))]))
        bench.store.core.tree.effectsMax = 1_024
        for _ in 0..<2_048 { try bench.store.dispatch(.add(1)) }
        try bench.send(.add(2))
        bench.advance(by: .milliseconds(999))
        #expect(bodies == [])
        bench.advance(by: .milliseconds(1))
        #expect(bodies == [2])
        #expect(bench.complaints == [])
    }

    @Test("F29: waiting middleware does not see a refused action")
    func refusedLater() throws {
        var bodies: [Int] = []
        let bench = StoreBench(
            Adder(
                actions: { $0.flatMap { $0 == .add(9) ? [.add(9), .refuse] : [$0] } },
                middleware: [answering { bodies.append($0) }.delay(.seconds(1))]))
        #expect(throws: Rejection.self) { try bench.send(.add(9)) }
        try bench.send(.add(1))
        bench.advance(by: .seconds(2))
        #expect(bodies == [1])
    }

    @Test("F29: a refused action opens no window")
    func windowTakenBack() throws {
        var bodies: [Int] = []
        let bench = StoreBench(
            Adder(
                actions: { $0.flatMap { $0 == .add(9) ? [.add(9), .refuse] : [$0] } },
                middleware: [
                    Middleware { _, action, _ in
                        if case .add(let number) = action { bodies.append(number) }
                    }.throttle(.seconds(1))
                ]))
        #expect(throws: Rejection.self) { try bench.send(.add(9)) }
        try bench.send(.add(1))
        try bench.send(.add(2))
        #expect(bodies == [9, 1])
        bench.advance(by: .seconds(1))
        #expect(throws: Rejection.self) { try bench.send(.add(9)) }
        try bench.send(.add(3))
        #expect(bodies == [9, 1, 9, 3])
    }

    @Test("F29: a refused action is not a newer run, and its dispatches are dropped")
    func latestTakenBack() throws {
        var held: [Middleware<Adder>.Dispatch] = []
        let bench = StoreBench(
            Adder(
                actions: { $0.flatMap { $0 == .add(9) ? [.add(9), .refuse] : [$0] } },
                middleware: [
                    Middleware<Adder> { _, _, dispatch in held.append(dispatch) }
                        .takeLatest().filter { $0 == .add(1) || $0 == .add(9) }
                ]))
        try bench.send(.add(1))
        #expect(throws: Rejection.self) { try bench.send(.add(9)) }
        for (number, dispatch) in held.enumerated() { dispatch(.add(100 + number)) }
        try bench.send(.add(3))
        #expect(bench.state.seen == [1, 3, 100])
    }
}
