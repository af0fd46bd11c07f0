import ReactorClient
import ReactorCore
import ReactorTesting
import Testing

/// The code of the guide "Testing a reactor" compiles and does what the guide says.
@Suite("The guide's snippets", .timeLimit(.minutes(10)))
struct GuideTests {
    @Test("the guide's steps test a reactor")
    func steps() {
        let store = TestStore(Search())
        store.send(.type("re")) { $0.text = "re" }
        store.send(.type("rea")) { $0.text = "rea" }
        store.advance(by: .milliseconds(300))
        store.receive(.found("REA")) { $0.result = "REA" }
        store.sendRejected(.open(""), "PATH")
        store.finish()
    }

    @Test("the guide tests children and followers")
    func followers() {
        let store = TestStore(Search())
        store.send(.submit)
        store.expect(Counter.self, at: "/count") { $0 = Counter.State(count: 1, history: [1]) }
        store.receive(follower: .log("submitted ")) { $0.log = ["submitted "] }
        store.finish()
    }

    @Test("the guide tests the children of a collection")
    func collection() {
        let store = TestStore(Search())
        store.send(.open("a"))
        store.expect(children: ["a"], of: \.$tabs)
        let tab = store.child(\.$tabs, "a")
        tab.send(.increment(by: 2)) { $0 = Counter.State(count: 2, history: [2]) }
        tab.sendRejected(.decrement(by: 3), "negative")
        #expect(tab.state?.count == 2)
        store.finish()
    }

    @Test("the guide tests code that uses a client")
    func stub() async throws {
        let stub = Stub(Counter.self)
        let daemon = TestDaemon(stub)
        let client = daemon.connect()
        let mirror = try client.mirror(Counter.self)
        stub.force(Counter.State(count: 7))
        daemon.settle()
        #expect(mirror.state.count == 7)
        _ = try client.dispatch(.increment(by: 2), to: mirror)
        #expect(stub.actions == [.increment(by: 2)])

        let live = try LiveDaemon(stub)
        let real = try await Client.connect(to: live.path)
        #expect(try await real.get("/").value?["count"] != nil)
        real.close()
    }

    @Test("the guide tests several clients")
    func clients() throws {
        let daemon = TestDaemon(Counter())
        let ann = daemon.connect()
        let bob = daemon.connect()
        let shown = try ann.mirror(Counter.self)
        _ = try bob.dispatch(Counter.Action.increment(by: 2))
        #expect(shown.state.count == 2)

        shown.send(.increment(by: 3), isPreviewed: true)
        #expect(shown.state.count == 5)
        daemon.settle()
        #expect(daemon.state(of: Counter.self)?.count == 5)
        let outcome = try daemon.run { await shown.dispatch(.decrement(by: 9)) }
        #expect(outcome == .rejected(Rejection("negative", "only 5")))

        try daemon.restart()
        daemon.advance(by: .seconds(1))
        #expect(shown.phase == .live && shown.state.count == 5)
    }

    @Test("the guide tests a storm", arguments: 0..<4 as Range<UInt64>)
    func storm(seed: UInt64) {
        let simulation = Simulation(seed: seed, clients: 5) { Till() }
        simulation.invariant("the till is never below zero") { $0.total >= 0 }
        simulation.run(steps: 200) { random, shown in
            let amount = Int.random(in: 1...9, using: &random)
            return amount <= shown.total ? .take(amount) : .put(amount)
        }
    }
}
