import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

/// Two nodes with the same rule.
@Reactor
private struct Tabs {
    @Child var bar = Tab()
    @Child var kitchen = Tab()
    @Child var buzzer = Buzzer()

    enum Action { case nothing }
    enum Mutation { case nothing }
    struct State { var name = "tabs" }

    func reduce(state: inout State, mutation: Mutation) {}
}

/// The stock counter under a later name.
@Reactor
private struct VisitCounter {
    static var formerNames: [String] { ["Counter"] }

    enum Action { case increment(by: Int64) }
    enum Mutation { case added(Int64) }
    struct State { var count: Int64 = 0 }

    func mutate(action: Action) throws(Rejection) -> Mutations<Mutation> {
        switch action {
        case .increment(let amount): [.added(amount)]
        }
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .added(let amount): state.count += amount
        }
    }
}

/// The house with the later name of its counter.
@Reactor
private struct LaterHouse {
    @Child var visits = VisitCounter()

    enum Action { case nothing }
    struct State { var name = "house" }

    func reduce(state: inout State, mutation: Action) {}
}

/// A main-actor program's state, which is not `Sendable`.
@MainActor
private final class Form {
    var amount: Int64 = 3

    func submit(to visits: Mirror<StockReactors.Counter>, over client: Client) async throws {
        let outcome = try await client.atomically { batch in
            batch.send(.increment(by: amount), to: visits)
        }
        try outcome.get()
    }
}

@Suite("ActionBatch", .timeLimit(.minutes(10)))
struct ActionBatchTests {
    private typealias Counter = StockReactors.Counter

    @Test("mirrors, paths of properties and paths in text are targets of one transaction")
    func targets() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let outcome = try await client.atomically { batch in
            batch.send(.increment(by: 5), to: visits)
            batch.send(.increment(by: 2), to: ReactorPath(House.self).child(\.$other))
            batch.send(Counter.Action.decrement(by: 1), to: "/visits")
            #expect(batch.count == 3)
        }
        #expect(try outcome.get() == Revision(epoch: 7, sequence: 1))
        #expect(outcome.refused == nil && visits.count == 4)
        #expect(try await client.get("/other/count").value == 2)
        client.close()
    }

    @Test("a path of properties finds a renamed reactor, whichever program is the later one")
    func renamed() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let later = ReactorPath(LaterHouse.self).child(\.$visits)
        let outcome = try await client.atomically { $0.send(.increment(by: 2), to: later) }
        try outcome.get()
        #expect(try await client.get("/visits/count").value == 2)
        client.close()
        let upgraded = try LiveServer(LaterHouse())
        let old = try await Client.connect(to: upgraded.path)
        let former = ReactorPath(House.self).child(\.$visits)
        let second = try await old.atomically { $0.send(.increment(by: 3), to: former) }
        try second.get()
        #expect(try await old.get("/visits/count").value == 3)
        let other = ReactorPath(Tabs.self, at: try SlicePath("/visits"))
        await #expect(
            throws: ClientError.otherReactor(
                path: "/visits", expected: "Tabs", actual: "VisitCounter")
        ) { try await old.atomically { $0.send(.nothing, to: other) } }
        old.close()
    }

    @Test("a refusal names the index, the path and the reason, and nothing is applied")
    func refused() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let other = try await client.mirror(Counter.self, at: "/other")
        _ = await other.dispatch(.increment(by: 1))
        let outcome = try await client.atomically { batch in
            batch.send(.increment(by: 5), to: visits)
            batch.send(.increment(by: .max), to: other)
        }
        let refused = try #require(outcome.refused)
        #expect(refused.index == 1 && refused.path == "/other")
        #expect(refused.rejection.code == "overflow")
        #expect(!refused.rejection.message.contains("action"))
        let error = #expect(throws: DispatchError.self) { try outcome.get() }
        #expect(error?.description.contains("overflow: action 1, to /other: ") == true)
        #expect(visits.count == 0 && other.count == 1 && outcome.revision == nil)
        client.close()
    }

    @Test("an action that the reactor cannot decode is named as well")
    func undecodable() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let outcome = try await client.atomically { batch in
            batch.send(Counter.Action.increment(by: 1), to: "/visits")
            batch.send(WireValue.map(["multiply": ["by": 4]]), to: "/other")
        }
        let refused = try #require(outcome.refused)
        #expect(refused.index == 1 && refused.path == "/other")
        #expect(refused.rejection.code == "DECODE")
        #expect(refused.rejection.message.contains("multiply"))
        client.close()
    }

    @Test("a condition refuses the whole, and names no action")
    func condition() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        _ = await visits.dispatch(.increment(by: 1))
        let stale = Revision(epoch: 7, sequence: 0)
        let outcome = try await client.atomically(if: stale) { batch in
            batch.send(.increment(by: 5), to: visits)
        }
        #expect(outcome.refused == nil)
        let error = #expect(throws: DispatchError.self) { try outcome.get() }
        guard case .rejected(let rejection) = error else {
            Issue.record("a stale condition held: \(outcome)")
            return
        }
        #expect(rejection.code == "CONFLICT" && visits.count == 1)
        client.close()
    }

    @Test("a path that leads to nothing, or to another reactor, is an error, and nothing is sent")
    func wrongTarget() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        let nowhere = await #expect(throws: ClientError.self) {
            _ = try await client.atomically { batch in
                batch.send(.increment(by: 5), to: visits)
                batch.send(Counter.Action.reset, to: "/visit")
            }
        }
        guard case .refused(let refusal) = nowhere else {
            Issue.record("expected a refusal, got \(String(describing: nowhere))")
            return
        }
        #expect(refusal.nearest == "/visits")
        let stranger = await #expect(throws: ClientError.self) {
            _ = try await client.atomically { batch in
                batch.send(.increment(by: 5), to: visits)
                batch.send(.jump(to: 9), to: ReactorPath(OtherHouse.self).child(\.$visits))
            }
        }
        #expect(
            stranger
                == .otherReactor(path: "/visits", expected: "OtherCounter", actual: "Counter"))
        #expect(visits.count == 0)
        client.close()
    }

    @Test("each mirror previews its own actions, and a refusal takes all of them back")
    func previewed() async throws {
        let server = try LiveServer(Tabs())
        let client = try await Client.connect(to: server.path)
        let bar = try await client.mirror(Tab.self, at: "/bar")
        let kitchen = try await client.mirror(Tab.self, at: "/kitchen")
        await server.hold()
        async let applied = client.atomically(isPreviewed: true) { batch in
            batch.send(.add(1), to: bar)
            batch.send(.add(2), to: kitchen)
            batch.send(.add(3), to: bar)
        }
        await bar.until { $0.entries == [1, 3] }
        #expect(kitchen.entries == [2])
        await server.release()
        #expect(try await applied.revision != nil)
        #expect(bar.entries == [1, 3] && kitchen.entries == [2])
        let refused = try await client.atomically(isPreviewed: true) { batch in
            batch.send(.add(4), to: bar)
            batch.send(.add(11), to: kitchen)
        }
        #expect(refused.refused?.path == "/kitchen")
        #expect(bar.entries == [1, 3] && kitchen.entries == [2])
        client.close()
    }

    @Test("the sagas of the mirrors see the actions once they are applied")
    func sagas() async throws {
        let server = try LiveServer(Tabs())
        let client = try await Client.connect(to: server.path)
        let buzzer = try await client.mirror(Buzzer(), at: "/buzzer")
        let bar = try await client.mirror(Tab.self, at: "/bar")
        let handle = try await buzzer.runSaga { saga in try await saga.take(Buzzer.number) }
        let refused = try await client.atomically { batch in
            batch.send(.press(1), to: buzzer)
            batch.send(.add(11), to: bar)
        }
        #expect(refused.refused?.index == 1)
        let applied = try await client.atomically { batch in
            batch.send(.add(1), to: bar)
            batch.send(.press(2), to: buzzer)
        }
        #expect(applied.revision != nil)
        #expect(try await handle.value == 2)
        client.close()
    }

    @Test("a saga's full channel refuses the whole, and keeps no place for the others")
    func fullChannel() async throws {
        let server = try LiveServer(Tabs())
        let client = try await Client.connect(to: server.path)
        let buzzer = try await client.mirror(Buzzer(), at: "/buzzer")
        let (opened, tell) = AsyncStream<Void>.makeStream()
        let handle = try await buzzer.runSaga { saga in
            let channel = try await saga.channel(of: Buzzer.number, capacity: 1)
            tell.finish()
            _ = try await saga.take(where: { $0 == .answer("go") })
            return try await saga.take(from: channel)
        }
        for await _ in opened {}
        let both = try await client.atomically { batch in
            batch.send(.press(1), to: buzzer)
            batch.send(.press(2), to: buzzer)
        }
        #expect(both.refused?.index == 1 && both.refused?.rejection.code == "BUSY")
        #expect(buzzer.presses == 0)
        let one = try await client.atomically { batch in batch.send(.press(3), to: buzzer) }
        #expect(one.revision != nil)
        #expect(await buzzer.dispatch(.answer("go")).revision != nil)
        #expect(try await handle.value == 3)
        client.close()
    }

    @Test("an actor builds a batch from its own state")
    func mainActor() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.mirror(Counter.self, at: "/visits")
        try await Form().submit(to: visits, over: client)
        #expect(visits.count == 3)
        client.close()
    }

    @Test("the call returns when the effects have ended, if it is to wait for them")
    func awaited() async throws {
        let server = try LiveServer(Tabs())
        let client = try await Client.connect(to: server.path)
        let bar = try await client.mirror(Tab.self, at: "/bar")
        let kitchen = try await client.mirror(Tab.self, at: "/kitchen")
        let outcome = try await client.atomically(awaitsEffects: true) { batch in
            batch.send(.work, to: bar)
            batch.send(.work, to: kitchen)
        }
        #expect(outcome.revision != nil && bar.isWorked && kitchen.isWorked)
        client.close()
    }
}
