import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Drives ``LargeAnswers``: how many of them the clients of one user may read at a time.
struct HeavyAnswerTests {
    private static let names = ["a", "b", "c", "d"]

    /// A server of four large values, of which a user may read two at a time.
    private func start() throws -> ServerHarness {
        let tree = Tree(ReactorGroup(Self.names.map { (WireKey($0), Ledger()) }), epoch: 7)
        let harness = ServerHarness(tree) { $0.heavyPerUIDMax = 2 }
        let writer = harness.client(uid: 9)
        for (id, name) in Self.names.enumerated() {
            writer.open("/\(name)", as: UInt32(id))
            let text = String(repeating: name, count: 300_000)
            writer.dispatch(Ledger.Action.title(text), to: UInt32(id))
        }
        harness.settle()
        return harness
    }

    /// Connects a client that does not read its answer, and requests a value.
    private func reader(_ harness: ServerHarness, uid: UInt32, _ name: String) -> TestClient {
        let client = harness.client(uid: uid)
        _ = client.frames()
        client.socket.room = 0
        client.ask(.get(path: "/\(name)"))
        harness.settle()
        return client
    }

    private func isReading(_ client: TestClient) -> Bool {
        client.harness.server.connections[client.id]?.outlet.value.hasStreams ?? false
    }

    @Test("X117: beyond heavyPerUIDMax large answers of a user, further ones wait for its own")
    func waits() throws {
        let harness = try start()
        let clients = Self.names.prefix(3).map { reader(harness, uid: 1, $0) }
        #expect(clients.map(isReading) == [true, true, false])
        #expect(!harness.server.needsTurn, "a turn would find nothing to do")
        let other = reader(harness, uid: 2, "d")
        #expect(isReading(other))
        clients[0].take()
        harness.settle()
        #expect(!isReading(clients[0]) && isReading(clients[2]))
        for client in clients + [other] {
            client.take()
            harness.settle()
            #expect(client.frames(.answer).last?.flags == [])
        }
    }

    @Test("an answer that several connections of a user read counts once")
    func shared() throws {
        let harness = try start()
        let clients = ["a", "a", "a", "b", "c"].map { reader(harness, uid: 1, $0) }
        #expect(clients.map(isReading) == [true, true, true, true, false])
    }

    @Test("X117: kept answers count as well, and answers that the user reads already do not")
    func kept() throws {
        let harness = try start()
        for name in Self.names {
            let client = reader(harness, uid: 1, name)
            client.take()
            harness.settle()
            #expect(client.frames(.answer).last?.flags == [])
        }
        let clients = ["a", "b", "c", "a", "d"].map { reader(harness, uid: 1, $0) }
        #expect(clients.map(isReading) == [true, true, false, true, false])
        #expect(isReading(reader(harness, uid: 2, "d")))
        for client in clients {
            client.take()
            harness.settle()
        }
        #expect(isReading(clients[4]) == false)
        for client in clients { #expect(client.frames(.answer).last?.flags == []) }
    }

    @Test("X113: a request that waits is refused once other rules apply to its connection")
    func otherRules() throws {
        let harness = try start()
        let clients = Self.names.prefix(3).map { reader(harness, uid: 1, $0) }
        #expect(clients.map(isReading) == [true, true, false])
        let rules = AccessRules(
            [.init(SlicePath(["c"]), to: .uid(1), may: .none)], fallback: .use)
        harness.server.apply(rules, ownerUID: 9)
        for client in clients {
            client.take()
            harness.settle()
        }
        let refusal = try #require(clients[2].frames(.refused).last).decode(Refusal.self)
        #expect(refusal.code == .busy && clients[2].frames(.answer).isEmpty)
    }

    @Test("an answer whose client does not read ends for another one of the same user")
    func stalls() throws {
        let harness = try start()
        let clients = Self.names.prefix(3).map { reader(harness, uid: 1, $0) }
        let other = reader(harness, uid: 2, "d")
        harness.now += harness.server.limits.answerDeadline
        harness.server.tick(at: harness.now)
        harness.settle()
        #expect(clients.map(isReading) == [false, true, true] && isReading(other))
        clients[0].take()
        let refusal = try #require(clients[0].frames(.refused).last).decode(Refusal.self)
        #expect(refusal.code == .busy)
        #expect(refusal.message.hasPrefix("heavyPerUIDMax 2 reached, and you read too slowly"))
    }

    @Test("a client that disconnects, and a higher limit, make room")
    func room() throws {
        let harness = try start()
        let clients = Self.names.map { reader(harness, uid: 1, $0) }
        #expect(clients.map(isReading) == [true, true, false, false])
        clients[1].disconnect()
        harness.settle()
        #expect(isReading(clients[2]) && !isReading(clients[3]))
        var limits = harness.server.limits
        limits.heavyPerUIDMax = 3
        harness.server.setLimits(limits)
        harness.settle()
        #expect(isReading(clients[3]))
    }
}
