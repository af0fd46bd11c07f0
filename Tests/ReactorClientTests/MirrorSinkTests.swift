import ReactorCore
import ReactorServer
import StockReactors
import Testing

@testable import ReactorClient

/// Mirrors of a machine without a thread of its own: their holder runs on the same thread.
@Suite("MirrorSink")
struct MirrorSinkTests {
    private typealias Counter = StockReactors.Counter

    /// Whether a client has subscribed to the node's deltas.
    private func isFollowed(_ path: String, _ rig: Rig) throws -> Bool {
        try #require(rig.server.tree.node(at: try SlicePath(path))).isReplicated
    }

    @Test("a mirror without references is no longer followed")
    func release() throws {
        let rig = Rig()
        let client = rig.client()
        var mirror: ReactorClient.Mirror<Counter>? = try client.mirror("/visits", rig)
        #expect(try mirror?.count == 0 && isFollowed("/visits", rig))
        mirror = nil
        #expect(client.machine.needsShell)
        rig.run()
        #expect(try !isFollowed("/visits", rig))
        #expect(client.sent.map(\.kind).filter { $0 == .unsubscribe }.count == 1)
    }

    @Test("a mirror that was released while the connection was lost is not requested again")
    func releaseWhileLost() throws {
        let rig = Rig()
        let client = rig.client()
        var mirror: ReactorClient.Mirror<Counter>? = try client.mirror("/visits", rig)
        rig.cut(client)
        #expect(mirror?.phase == .connecting)
        mirror = nil
        rig.run()
        #expect(try !isFollowed("/visits", rig))
        #expect(client.sent.map(\.kind).filter { $0 == .subscribe }.count == 1)
    }

    @Test("a mirror that is released and requested at once is another one, and correct")
    func again() throws {
        let rig = Rig()
        let client = rig.client()
        let node = try client.open("/visits", rig)
        var first: ReactorClient.Mirror<Counter>? = try client.mirror("/visits", rig)
        weak let old = first
        first = nil
        #expect(old == nil)
        let second = try client.mirror("/visits", rig)
        try client.machine.dispatch(Counter.Action.increment(by: 2), to: node)
        rig.run()
        #expect(second.count == 2)
        #expect(try isFollowed("/visits", rig))
    }

    @Test("a second request for a mirror on its way gets the same mirror")
    func twice() throws {
        let rig = Rig()
        let client = rig.client()
        var mirrors: [ReactorClient.Mirror<Counter>] = []
        for _ in 0..<3 {
            client.machine.mirror(Counter.self, at: "/visits") { result in
                if let mirror = try? result.get() { mirrors.append(mirror) }
            }
        }
        rig.run()
        #expect(mirrors.count == 3 && mirrors.allSatisfy { $0 === mirrors[0] })
    }

    @Test("a mirror that arrives without a waiting caller is released")
    func unwanted() throws {
        let rig = Rig()
        let client = rig.client()
        var isTold = false
        client.machine.mirror(Counter.self, at: "/visits") { _ in isTold = true }
        rig.run()
        #expect(isTold)
        #expect(try !isFollowed("/visits", rig))
    }

    @Test("outcomes that wait for a mirror's snapshot arrive when the mirror is released")
    func heldOutcomes() throws {
        let rig = Rig()
        let client = rig.client()
        let node = try client.open("/other", rig)
        var visits: ReactorClient.Mirror<Counter>? = try client.mirror("/visits", rig)
        // The updates dropped for a slow reader keep outcomes back until its snapshot comes.
        rig.forge(Frame(.lag).bytes, to: client)
        var outcomes: [ActionOutcome] = []
        try client.machine.dispatch(Counter.Action.increment(by: 1), to: node) {
            outcomes.append($0)
        }
        rig.run()
        #expect(outcomes == [] && visits?.count == 0)
        visits = nil
        rig.run()
        #expect(outcomes.compactMap { $0.revision?.sequence } == [1])
    }

    @Test("a closed machine fails the waiting requests for a mirror, and later ones")
    func closed() throws {
        let rig = Rig()
        let client = rig.client()
        var errors: [ClientError] = []
        func note(_ result: Result<ReactorClient.Mirror<Counter>, ClientError>) {
            if case .failure(let error) = result { errors.append(error) }
        }
        client.machine.mirror(Counter.self, at: "/visits", then: note)
        client.machine.close()
        client.machine.mirror(Counter.self, at: "/visits", then: note)
        #expect(errors == [.ended, .ended])
    }

    @Test("a mirror of a removed node fails with gone")
    func gone() throws {
        let rig = Rig(tree: Tree(Hotel(), epoch: 7))
        let client = rig.client()
        let node = try client.open("/", rig)
        try client.machine.dispatch(Hotel.Action.open("7"), to: node)
        rig.run()
        let room = try client.mirror("/rooms/7", rig)
        try client.machine.dispatch(Hotel.Action.close("7"), to: node)
        rig.run()
        #expect(room.phase == .failed(.gone(path: "/rooms/7")))
    }

    @Test("created and removed children do not change a mirror of their collection's parent")
    func structure() throws {
        let rig = Rig(tree: Tree(Hotel(), epoch: 7))
        let client = rig.client()
        var mirror: ReactorClient.Mirror<Hotel>?
        client.machine.mirror(Hotel.self, at: "/") { mirror = try? $0.get() }
        let node = try client.open("/", rig)
        try client.machine.dispatch(Hotel.Action.open("7"), to: node)
        rig.run()
        #expect(mirror?.phase == .live && mirror?.openings == 1 && client.connectCount == 1)
    }
}

/// A collection of counters that are created and removed.
@Reactor
private struct Hotel {
    @Children var rooms = { (_: WireKey) in StockReactors.Counter() }

    enum Action {
        case open(String)
        case close(String)
    }

    enum Mutation { case opened }
    struct State { var openings = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .open(let key): Mutations(.opened).creating($rooms, WireKey(key))
        case .close(let key): Mutations<Mutation>.none.removing($rooms, WireKey(key))
        }
    }

    func reduce(state: inout State, mutation: Mutation) { state.openings += 1 }
}
