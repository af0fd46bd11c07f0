import ReactorCore
import ReactorServer
import ReactorWire
import Testing

/// Conversations without faults.
struct ServerTests {
    @Test("a hello is answered with the epoch, a secret and the limits")
    func welcome() throws {
        let harness = ServerHarness()
        let client = harness.client()
        let frames = client.frames()
        #expect(frames.map(\.kind) == [.welcome])
        let welcome = try frames[0].decode(Welcome.self)
        #expect(welcome.epoch == 7)
        #expect(welcome.session.count == 16)
        #expect(!welcome.isResumed)
        #expect(welcome.limits.inFlightMax == 1_024)
    }

    // [WIRE-7-1]
    @Test("actions of one turn are answered as one run, in the order of their arrival")
    func runs() throws {
        let harness = ServerHarness()
        let client = harness.client()
        client.open("/visits")
        for _ in 0..<100 { client.add() }
        harness.turn()
        let applied = client.frames(.applied)
        #expect(applied.count == 1)
        #expect(applied[0].id == 100)
        #expect(applied[0].number == 1)
        #expect(try UInt64(wireBytes: applied[0].body) == 1)
    }

    // [WIRE-7-5]
    @Test("a rejection and a reply interrupt a run, and outcomes stay in order")
    func exceptions() throws {
        let harness = ServerHarness()
        let client = harness.client()
        client.open("/visits")
        client.add()
        client.add()
        client.dispatch(Tally.Action.refuse(text: "no"))
        client.add(40)
        client.dispatch(Tally.Action.ask)
        client.add()
        harness.turn()
        let frames = client.frames().filter { $0.kind == .applied || $0.kind == .outcome }
        #expect(frames.map(\.kind) == [.applied, .outcome, .applied, .outcome, .applied])
        let log = try OutcomeLog(frames)
        #expect(log[3]?.code == "refused")
        #expect(log[4] == .applied(sequence: 3, reply: nil, ownerEnded: false))
        #expect(log[5] == .applied(sequence: 4, reply: WireEmbedded(42), ownerEnded: false))
        #expect(log[6] == .applied(sequence: 5, reply: nil, ownerEnded: false))
    }

    // [WIRE-1-7]
    @Test("a client that half-closes gets its outcomes, then the close", .tags(.wire))
    func halfClose() throws {
        let harness = ServerHarness()
        let client = harness.client()
        client.open("/visits")
        client.add()
        harness.server.endInput(client.id)
        harness.turn()
        #expect(try OutcomeLog(client.frames())[1]?.isApplied == true)
        #expect(client.socket.isClosed)
    }

    @Test("a draining server informs every client, after its outcomes, and closes")
    func drain() throws {
        let harness = ServerHarness()
        let (client, idle) = (harness.client(), harness.client())
        _ = (client.frames(), idle.frames())
        client.open("/visits")
        client.add()
        harness.server.drain()
        harness.turn()
        let frames = client.frames()
        #expect(frames.map(\.kind) == [.opened, .applied, .closing])
        #expect(try frames[2].decode(Closing.self).code == .draining)
        #expect(idle.frames().map(\.kind) == [.closing])
        #expect(client.socket.isClosed && idle.socket.isClosed)
        let late = harness.connect()
        harness.turn()
        #expect(try late.frames(.closing)[0].decode(Closing.self).code == .draining)
        #expect(harness.server.connectionCount == 0)
    }

    // [WIRE-9-2]
    @Test("at a drain, a client sees its last actions' changes before their outcomes")
    func drainOfAFollower() throws {
        let harness = ServerHarness()
        let client = harness.client()
        client.open("/visits")
        client.subscribe("/visits")
        client.subscribe("/visits", .value)
        harness.turn()
        _ = client.frames()
        client.add()
        harness.server.drain()
        harness.turn()
        #expect(client.frames().map(\.kind) == [.value, .delta, .mark, .applied, .closing])
        #expect(client.socket.isClosed)
        #expect(harness.server.connectionCount == 0)
    }
}

extension Tag {
    @Tag static var wire: Self
}
