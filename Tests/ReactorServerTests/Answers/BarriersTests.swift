import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Questions that wait for a state. Drives ``Barriers``.
struct BarriersTests {
    private static let second: UInt64 = 1_000_000_000

    private func answers(_ client: TestClient) throws -> [Synced] {
        try client.frames(.answer).map { try $0.decode(Synced.self) }
    }

    private func codes(_ client: TestClient) throws -> [FaultCode] {
        try client.frames(.refused).map { try $0.decode(Refusal.self).code }
    }

    // [WIRE-11-9]
    @Test("a daemon that is alone answers for its revision at once, and for a later one with it")
    func alone() throws {
        let harness = ServerHarness()
        let (client, other) = (harness.start(), harness.client())
        client.add(1)
        harness.settle()
        let revision = harness.server.tree.revision
        for ask in [Question.sync(), .sync(atLeast: revision), .sync(isCurrent: true)] {
            other.ask(ask)
        }
        harness.settle()
        #expect(
            try answers(other) == .init(repeating: Synced(revision: revision, age: 0), count: 3))
        let next = Revision(epoch: revision.epoch, sequence: revision.sequence + 2)
        other.ask(.sync(atLeast: next))
        harness.settle()
        client.add(1)
        harness.settle()
        #expect(other.frames().isEmpty)
        client.add(1)
        harness.settle()
        #expect(try answers(other) == [Synced(revision: next, age: 0)])
        #expect(harness.confirmCount == 0)
    }

    // [WIRE-11-9]
    @Test("a follower answers for a revision in the turn of its row, behind the changes before it")
    func follower() throws {
        let pair = try ServerPair()
        let client = pair.follower.client()
        client.subscribe("/visits")
        pair.follower.settle()
        _ = client.frames()
        let revision = pair.leader.server.tree.revision
        client.ask(
            .sync(atLeast: Revision(epoch: revision.epoch, sequence: revision.sequence + 2)))
        pair.follower.settle()
        pair.client.add(1)
        try pair.step()
        #expect(client.frames().map(\.kind) == [.delta, .mark])
        pair.client.add(1)
        try pair.step()
        let frames = client.frames()
        #expect(Set(frames.compactMap(\.kind)) == [.delta, .mark, .answer])
        let answer = try #require(frames.first { $0.kind == .answer })
        #expect(try answer.decode(Synced.self).revision == pair.leader.server.tree.revision)
        #expect(pair.follower.confirmCount == 0)
    }

    // [WIRE-11-9]
    @Test("the current state of a cluster is one that the log confirms as of after the question")
    func current() throws {
        let harness = try ServerPair().follower
        let client = harness.client()
        client.ask(.sync(isCurrent: true))
        harness.settle()
        #expect(client.frames(.answer).isEmpty && harness.confirmCount == 1)
        let asked = harness.now
        harness.server.confirm(asOf: asked, confirmed: asked - 1, at: asked)
        #expect(!harness.server.hasConfirmed, "the engine may have told an older state")
        harness.now += 3_500_000
        harness.server.confirm(
            asOf: harness.now - 2_500_000, confirmed: asked, at: harness.now)
        #expect(harness.server.hasConfirmed && harness.server.needsTurn)
        harness.turn()
        harness.settle()
        let answer = try #require(try answers(client).first)
        #expect(answer == Synced(revision: harness.server.tree.revision, age: 3))
        #expect(!harness.server.hasConfirmed && !harness.server.needsTurn)
    }

    @Test("a node that begins to lead still has the log confirm that it leads")
    func leader() throws {
        let pair = try ServerPair()
        let client = pair.follower.client()
        try pair.follower.server.lead(in: 2, at: pair.follower.now)
        pair.follower.settle()
        client.ask(.sync(isCurrent: true))
        pair.follower.settle()
        #expect(pair.follower.confirmCount == 1 && client.frames(.answer).isEmpty)
        let time = pair.follower.now + 1
        pair.follower.server.confirm(asOf: time, confirmed: time, at: time)
        pair.follower.turn()
        pair.follower.settle()
        #expect(client.frames(.answer).count == 1)
    }

    @Test("an answer of a leader waits until the journal has the turn that it tells of")
    func unappended() throws {
        let harness = ServerHarness()
        let (client, other) = (harness.start(), harness.client())
        harness.settle()
        _ = other.frames()
        harness.appendsAtOnce = false
        let revision = harness.server.tree.revision
        client.add(1)
        other.ask(
            .sync(atLeast: Revision(epoch: revision.epoch, sequence: revision.sequence + 1)))
        harness.settle()
        #expect(other.frames().isEmpty)
        harness.append()
        harness.settle()
        #expect(try answers(other).count == 1)
    }

    // [WIRE-11-10]
    @Test("a question whose state does not come is refused after its time, with the reason")
    func deadline() throws {
        let pair = try ServerPair()
        let harness = pair.follower
        let client = harness.client()
        let (revision, begin) = (harness.server.tree.revision, harness.now)
        client.ask(
            .sync(
                atLeast: Revision(epoch: revision.epoch, sequence: revision.sequence + 9),
                within: 300))
        client.ask(.sync(isCurrent: true, within: 200))
        client.ask(.sync(isCurrent: true, within: 900))
        harness.settle()
        #expect(harness.wakes == [begin + 350_000_000, begin + 250_000_000])
        harness.now = begin + 250_000_000
        harness.server.wake(at: harness.now)
        harness.turn()
        harness.settle()
        let first = try client.frames(.refused).map { try $0.decode(Refusal.self) }
        #expect(
            first == [
                Refusal(.deadline, "after 200 ms, the log has not confirmed the daemon's state")
            ])
        harness.now = begin + 350_000_000
        harness.server.wake(at: harness.now)
        harness.turn()
        harness.settle()
        let second = try client.frames(.refused).map { try $0.decode(Refusal.self) }
        #expect(
            second.map(\.message) == [
                "after 300 ms, the daemon is at sequence \(revision.sequence), and not at "
                    + "\(revision.sequence + 9)"
            ])
        #expect(harness.wakes.last == begin + 950_000_000)
        // The tick ends it as well.
        harness.server.tick(at: begin + Self.second)
        harness.turn()
        harness.settle()
        #expect(try codes(client) == [.deadline])
    }

    // [WIRE-11-10]
    @Test("a revision of another history is refused, and so is the 65th question that waits")
    func refused() throws {
        let harness = ServerHarness()
        let client = harness.start()
        let revision = harness.server.tree.revision
        client.ask(.sync(atLeast: Revision(epoch: revision.epoch ^ 1, sequence: 0)))
        harness.settle()
        #expect(try codes(client) == [.conflict])
        for _ in 0..<65 {
            client.ask(
                .sync(atLeast: Revision(epoch: revision.epoch, sequence: revision.sequence + 1)))
        }
        harness.settle()
        #expect(try codes(client) == [.quota])
        client.add(1)
        harness.settle()
        #expect(client.frames(.answer).count == 64)
    }

    @Test("a client that has ended its input gets its answer, and a closed one leaves nothing")
    func ends() throws {
        let harness = ServerHarness()
        let (client, waiter, gone) = (harness.start(), harness.client(), harness.client())
        harness.settle()
        let revision = harness.server.tree.revision
        let next = Revision(epoch: revision.epoch, sequence: revision.sequence + 1)
        for asker in [waiter, gone] { asker.ask(.sync(atLeast: next)) }
        harness.settle()
        harness.server.endInput(waiter.id)
        gone.disconnect()
        harness.settle()
        #expect(!waiter.socket.isClosed)
        client.add(1)
        harness.settle()
        #expect(waiter.frames(.answer).count == 1 && waiter.socket.isClosed)
    }

    @Test("a client that an operator disconnects gets no answer after the reason")
    func kicked() throws {
        let harness = ServerHarness()
        let (client, waiter) = (harness.start(), harness.client())
        harness.settle()
        _ = waiter.frames()
        let revision = harness.server.tree.revision
        waiter.ask(
            .sync(atLeast: Revision(epoch: revision.epoch, sequence: revision.sequence + 1)))
        harness.settle()
        #expect(harness.server.kick(waiter.id, at: harness.now) != nil)
        client.add(1)
        harness.settle()
        #expect(waiter.frames().map(\.kind) == [.closing])
    }

    @Test("a daemon that ends refuses the questions that wait")
    func draining() throws {
        let harness = ServerHarness()
        let client = harness.start()
        let revision = harness.server.tree.revision
        client.ask(
            .sync(atLeast: Revision(epoch: revision.epoch, sequence: revision.sequence + 1)))
        harness.settle()
        harness.server.drain()
        harness.settle()
        let frames = client.frames()
        #expect(frames.map(\.kind) == [.refused, .closing])
        #expect(try frames.first?.decode(Refusal.self).code == .busy)
    }
}
