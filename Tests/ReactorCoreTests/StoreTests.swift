import Testing

@testable import ReactorCore

/// Drives ``StoreCore``.
@Suite("Store")
struct StoreTests {
    @Test("F15: a dispatched action is applied when the call returns")
    func dispatch() throws {
        let store = Store(Tally())
        try store.dispatch(.add(3))
        try store.dispatch(.spread([1, 2]))
        #expect(store.state == Tally.State(sum: 6, history: [3, 1, 2]))
        #expect(store.sequence == 2)
    }

    @Test("F64: a store provides each reactor of its tree as a store")
    func storeOfNested() throws {
        let store = Store(Office())
        try store.dispatch(.open("a"))
        let tracker = try store.reactor(Tracker.self, at: "/tracker")
        var seen: [Int] = []
        let token = tracker.observe { seen.append($0.sum) }
        try tracker.dispatch(.add(2))
        #expect(throws: Rejection.self) { try tracker.dispatch(.refuse) }
        tracker.send(.add(3))
        tracker.inject(.added(4))
        #expect(tracker.state.sum == 9 && seen == [0, 2, 5, 9])
        #expect(store.sequence == tracker.sequence)
        let room = try store.reactor(ReactorPath(Office.self).child(\.$rooms, "a"))
        try room.dispatch(.run("x"))
        #expect(room.state.runs == ["x"] && room.scoped(to: \.sum).state == 0)
        #expect(throws: Rejection(.notFound, "/nowhere: no such node")) {
            _ = try store.reactor(Tracker.self, at: "/nowhere")
        }
        #expect(throws: Rejection.self) { _ = try store.reactor(Tally.self, at: "/tracker") }
        withExtendedLifetime(token) {}
    }

    @Test("R96: a rejected action throws, and changes nothing")
    func rejection() throws {
        let store = Store(Tally())
        try store.dispatch(.add(3))
        #expect(throws: Rejection("refused", "the sum 3 stays")) { try store.dispatch(.refuse) }
        #expect(store.sequence == 1)
        #expect(throws: Rejection.self) { try store.dispatch(.flood(CoreLimits.mutationsMax + 1)) }
        try store.dispatch(.add(1))
        #expect(store.state.sum == 4)
    }

    @Test("an observer gets the current state and each later one, until its token is released")
    func observe() throws {
        let store = Store(Tally())
        var seen: [Int] = []
        var token: StoreToken? = store.observe { seen.append($0.sum) }
        try store.dispatch(.add(1))
        try? store.dispatch(.refuse)
        try store.dispatch(.add(2))
        #expect(seen == [0, 1, 3])
        token = nil
        try store.dispatch(.add(4))
        #expect(seen == [0, 1, 3])
        #expect(token == nil)
    }

    @Test("F43: an observer that dispatches in its first call is called with the result")
    func actingAtOnce() throws {
        let store = Store(Tally())
        var seen: [Int] = []
        let token = store.observe { [unowned store] state in
            if state.sum == 0 { try? store.dispatch(.add(1)) }
            seen.append(state.sum)
        }
        #expect(seen == [0, 1])
        try store.dispatch(.add(1))
        #expect(seen == [0, 1, 2])
        withExtendedLifetime(token) {}
    }

    @Test("F43: an observer that injects, or drains, in its first call is called with the result")
    func injectingAtOnce() throws {
        let store = Store(Tally())
        var seen: [Int] = []
        let injecting = store.observe { [unowned store] state in
            if state.sum == 0 { store.inject(.added(1)) }
            seen.append(state.sum)
        }
        let draining = store.observe { [unowned store] state in
            if state.sum == 1 {
                store.handle.send(.add(1))
                store.drain()
            }
            seen.append(state.sum)
        }
        #expect(seen == [0, 1, 1, 2, 2])
        withExtendedLifetime((injecting, draining)) {}
    }

    @Test(
        "F43: an observation begun by an observer may dispatch in its first call and misses nothing"
    )
    func actingInside() throws {
        let store = Store(Tally())
        var (seen, tokens): ([Int], [StoreToken]) = ([], [])
        let outer = store.observe { [unowned store] state in
            guard state.sum == 5 else { return }
            tokens.append(
                store.observe { [unowned store] state in
                    if state.sum == 5 { store.send(.add(1)) }
                    seen.append(state.sum)
                })
        }
        try store.dispatch(.add(5))
        #expect(seen == [5, 6])
        withExtendedLifetime((outer, tokens)) {}
    }

    @Test("an observation's token that outlives its store retains nothing of the store")
    func tokenOutlives() throws {
        weak var root: AnyNode?
        weak var held: Notes?
        func observation() -> StoreToken {
            let (store, notes) = (Store(Tally()), Notes())
            (root, held) = (store.node, notes)
            return store.observe { notes.add("\($0.sum)") }
        }
        let token = observation()
        #expect(root == nil && held == nil)
        withExtendedLifetime(token) {}
    }

    @Test("F43: an action that an observer dispatches runs after the current one is complete")
    func reentrant() throws {
        let store = Store(Tally())
        var seen: [String] = []
        let first = store.observe { [unowned store] state in
            seen.append("first \(state.sum)")
            if state.sum == 1 { try? store.dispatch(.add(10)) }
            seen.append("first done")
        }
        let second = store.observe { seen.append("second \($0.sum)") }
        seen = []
        try store.dispatch(.add(1))
        #expect(
            seen == [
                "first 1", "first done", "second 1", "first 11", "first done", "second 11",
            ])
        withExtendedLifetime((first, second)) {}
    }

    @Test(
        "F20: a store's root may contain reactors whose followers run before dispatch returns"
    )
    func nested() throws {
        let store = Store(Shop())
        try store.dispatch(.visit(12))
        #expect(store.state.notes == ["visit after 0", "a crowd of 12"])
    }

    @Test("actions sent from other threads wait for the drain, in the order of each sender")
    func handle() async throws {
        let (rings, bell) = AsyncStream<Void>.makeStream()
        let store = Store(Tally(), wake: { bell.yield() })
        let handle = store.handle
        await withTaskGroup { group in
            for sender in 0..<4 {
                group.addTask {
                    for number in 0..<100 { handle.send(.add(sender * 1_000 + number)) }
                }
            }
        }
        #expect(store.state.history.isEmpty)
        for await _ in rings { break }
        store.drain()
        #expect(store.sequence == 400)
        for sender in 0..<4 {
            let own = store.state.history.filter { $0 / 1_000 == sender }
            #expect(own == (0..<100).map { sender * 1_000 + $0 })
        }
    }

    @Test("a rejected action from another thread has no effect on others")
    func handleRejection() throws {
        let store = Store(Tally())
        var shown = 0
        let token = store.observe { _ in shown += 1 }
        store.handle.send(.refuse)
        store.handle.send(.add(1))
        store.drain()
        #expect(store.state.sum == 1)
        #expect(shown == 2)
        withExtendedLifetime(token) {}
    }

    @Test("F43: an observer that drains gets the waiting jobs after the current action")
    func reentrantDrain() throws {
        let store = Store(Tally())
        var seen: [Int] = []
        let token = store.observe { [unowned store] state in
            if state.sum == 1 {
                store.handle.send(.add(10))
                store.drain()
            }
            seen.append(state.sum)
        }
        try store.dispatch(.add(1))
        #expect(seen == [0, 1, 11])
        withExtendedLifetime(token) {}
    }

    @Test("F13: an effect's emission arrives with a drain, and rings the bell")
    func effects() async throws {
        let (rings, bell) = AsyncStream<Void>.makeStream()
        let store = Store(Fetcher(), wake: { bell.yield() })
        try store.dispatch(.fetch(["a", "b"]))
        #expect(store.state.pages == ["-"])
        for await _ in rings {
            store.drain()
            if store.state.pages.count == 3 { break }
        }
        #expect(store.state.pages == ["-", "a", "b"])
        #expect(store.sequence == 3)
    }

    @Test("F43: observers that answer each other endlessly are cut off, with a report")
    func loop() throws {
        let store = Store(Tally())
        var complaints: [String] = []
        store.onComplaint = { complaints.append($0) }
        let deep = store.observe { [unowned store] in if $0.sum > 0 { store.send(.add(1)) } }
        try store.dispatch(.add(1))
        #expect(store.state.sum == 1 + CoreLimits.followerDepthMax)
        #expect(complaints.count == 1 && complaints.allSatisfy { $0.hasPrefix("LOOP: ") })
        try store.dispatch(.add(1))
        #expect(store.state.sum == 2 * (1 + CoreLimits.followerDepthMax))
        withExtendedLifetime(deep) {}
    }

    @Test("F43: an observer's actions are bounded like an action's followers")
    func flood() throws {
        let store = Store(Tally())
        var complaints: [String] = []
        store.onComplaint = { complaints.append($0) }
        let wide = store.observe { [unowned store] state in
            guard state.sum == 1 else { return }
            for _ in 0...CoreLimits.followersMax { store.send(.add(1)) }
        }
        try store.dispatch(.add(1))
        #expect(store.state.sum == 1 + CoreLimits.followersMax)
        #expect(complaints.count == 1 && complaints.allSatisfy { $0.hasPrefix("LOOP: ") })
        withExtendedLifetime(wide) {}
    }

    @Test("the refusal of a waiting action is reported, and so is a handle's")
    func waitingRefusal() throws {
        let store = Store(Tally())
        var complaints: [String] = []
        store.onComplaint = { complaints.append($0) }
        let token = store.observe { [unowned store] state in
            if state.sum == 1 { try? store.dispatch(.refuse) }
        }
        try store.dispatch(.add(1))
        #expect(complaints.count == 1)
        store.handle.send(.refuse)
        store.drain()
        #expect(complaints.count == 2 && complaints.allSatisfy { $0.contains("refused") })
        withExtendedLifetime(token) {}
    }

    @Test("an observer whose token is released during a notification is not called any more")
    func tokenGoes() throws {
        let store = Store(Tally())
        var second: StoreToken?
        var seen: [Int] = []
        let first = store.observe { if $0.sum > 0 { second = nil } }
        second = store.observe { seen.append($0.sum) }
        try store.dispatch(.add(1))
        #expect(seen == [0] && second == nil)
        withExtendedLifetime(first) {}
    }
}
