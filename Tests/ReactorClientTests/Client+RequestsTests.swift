import ReactorCore
import StockReactors
import Testing

@testable import ReactorClient

@Suite("Questions and actions for any path", .timeLimit(.minutes(10)))
struct ClientRequestsTests {
    private typealias Counter = StockReactors.Counter

    @Test("get returns the value of a node or a field, with its revision")
    func get() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let outcome = try await client.dispatch("/visits", Counter.Action.increment(by: 2))
        let node = try await client.get("/visits")
        #expect(node.value == ["count": 2] && node.revision == outcome.revision)
        #expect(try await client.get("/visits/count").value == 2)
        #expect(
            try await client.get("/").value == [
                "name": "house", "visits": ["count": 2], "other": ["count": 0],
            ])
        client.close()
    }

    @Test("get distinguishes a path without a value from an impossible path")
    func getNothing() async throws {
        let server = try LiveServer(StockReactors.Map())
        let client = try await Client.connect(to: server.path)
        #expect(try await client.get("/entries/theme").value == nil)
        let error = await #expect(throws: ClientError.self) {
            _ = try await client.get("/nonsense")
        }
        guard case .refused(let refusal) = error else {
            Issue.record("expected a refusal, got \(String(describing: error))")
            return
        }
        #expect(refusal.code == .notFound)
        client.close()
    }

    @Test("an answer in several frames is joined")
    func longAnswer() async throws {
        let server = try LiveServer(Page())
        let client = try await Client.connect(to: server.path)
        let text = String(repeating: "word ", count: 60_000)
        let outcome = try await client.dispatch("/", Page.Action.write(text))
        #expect(outcome.revision != nil)
        #expect(try await client.get("/text").value == .text(text))
        let page = try await client.mirror(Page.self, at: "/")
        #expect(page.text == text)
        client.close()
    }

    @Test("describe returns a node's actions and its state")
    func describe() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let visits = try await client.describe("/visits")
        #expect(visits.path == "/visits" && visits.reactor == "Counter")
        guard case .choice(let action) = visits.action, case .record(let state) = visits.state
        else {
            Issue.record("actions are no choice or the state is no record")
            return
        }
        #expect(action.cases.map(\.name) == ["increment", "decrement", "reset"])
        #expect(state.fields.map(\.name) == ["count"])
        #expect(visits.fingerprint == Counter.fingerprint && visits.reply == nil)
        #expect(try await client.describe("/").children.sorted() == ["other", "visits"])
        client.close()
    }

    @Test("tree lists the nodes, stats counts, and limits are named")
    func lists() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        _ = try await client.dispatch("/visits", Counter.Action.increment(by: 2))
        let tree = try await client.tree()
        #expect(tree.map(\.path) == ["/", "/other", "/visits"])
        #expect(tree.map(\.sequence) == [1, 0, 1])
        #expect(try await client.stats()["actions"] == 1)
        #expect(try await client.limits()["frameBytesMax"] == 1 << 20)
        client.close()
    }

    @Test("an action of any shape is sent, and the daemon rejects one that the node does not know")
    func anyShape() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let known: WireValue = ["increment": ["by": 4]]
        let applied = try await client.dispatch("/visits", known)
        #expect(applied.revision?.sequence == 1)
        let unknown: WireValue = ["multiply": ["by": 4]]
        guard case .rejected(let rejection) = try await client.dispatch("/visits", unknown) else {
            Issue.record("a counter does not multiply")
            return
        }
        #expect(rejection.code == "DECODE" && rejection.message.contains("multiply"))
        let stale = try await client.dispatch(
            "/visits", known, if: Revision(epoch: 7, sequence: 0))
        #expect(stale.revision == nil)
        await #expect(throws: ClientError.self) { try await client.dispatch("/nowhere", known) }
        client.close()
    }

    @Test("a batch is applied to all nodes at one revision, or to none")
    func batch() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let add = WireEmbedded(Counter.Action.increment(by: 5))
        let all = try await client.batch([("/visits", add), ("/other", add), ("/visits", add)])
        #expect(all.revision == Revision(epoch: 7, sequence: 1))
        let overflow = WireEmbedded(Counter.Action.increment(by: .max))
        guard
            case .rejected(let rejection) = try await client.batch([
                ("/other", add), ("/visits", overflow),
            ])
        else {
            Issue.record("a batch with a rejected action was applied")
            return
        }
        #expect(rejection.code == "overflow" && rejection.message.contains("action 1"))
        let value = try await client.get("/").value
        #expect(value == ["name": "house", "visits": ["count": 10], "other": ["count": 5]])
        client.close()
    }

    @Test("a condition of a batch is about all nodes")
    func conditionalBatch() async throws {
        let server = try LiveServer()
        let client = try await Client.connect(to: server.path)
        let add = WireEmbedded(Counter.Action.increment(by: 5))
        let start = Revision(epoch: 7, sequence: 0)
        #expect(try await client.batch([("/visits", add)], if: start).revision != nil)
        guard case .rejected(let rejection) = try await client.batch([("/other", add)], if: start)
        else {
            Issue.record("a stale condition held")
            return
        }
        #expect(rejection.code == "CONFLICT")
        client.close()
    }
}
