import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// A client that has seen more than the history from which a daemon continues.
@Suite("A history that a client contradicts")
struct EpochTests {
    /// A server that continues from three of five transactions, the session of their client, and
    /// the revision that the client knows.
    private func rolledBack() throws -> (harness: ServerHarness, session: [UInt8]) {
        let harness = try ServerHarness.keeping()
        let client = harness.client()
        let session = try client.welcome().session
        client.open("/visits")
        for _ in 1...5 {
            client.add(1)
            harness.turn()
        }
        let kept = harness.rows.filter { $0.sequence <= 3 }
        return (try harness.restarted(rows: kept), session)
    }

    private func claims(_ harness: ServerHarness) -> Int {
        harness.events.count { if case .contradicted = $0 { true } else { false } }
    }

    @Test(
        "C90: a subscriber of a later revision gets the slice afresh, under a new epoch")
    func revision() throws {
        let (harness, _) = try rolledBack()
        let (late, other) = (harness.client(), harness.client())
        harness.turn()
        late.subscribe("/visits", from: Revision(epoch: 7, sequence: 5))
        harness.turn()
        #expect(claims(harness) == 1 && harness.server.statistics.historyContradicted == 1)
        #expect(late.socket.isClosed && other.socket.isClosed)
        #expect(harness.server.statistics.epochChanges == 1)
        harness.turn()
        let back = harness.connect()
        back.hello()
        harness.turn()
        let epoch = try back.welcome().epoch
        #expect(epoch != 7)
        back.subscribe("/visits", from: Revision(epoch: 7, sequence: 5))
        harness.turn()
        #expect(back.frames(.snapshot).first?.flags.contains(.fresh) ?? false)
        // The new epoch is recorded before the server welcomes any client in it, and the next start
        // continues in it.
        #expect(harness.rows.last?.epoch == epoch && harness.rows.last?.sequence == 3)
        #expect(claims(harness) == 1)
    }

    @Test(
        "C90: a session later than the history, or with later outcomes, contradicts it",
        arguments: [
            Hello(applied: 5, epoch: 7), Hello(applied: 5),
            Hello(session: [UInt8](repeating: 9, count: 16), epoch: 7, since: 4),
        ])
    func session(hello: Hello) throws {
        let (harness, session) = try rolledBack()
        var hello = hello
        if hello.session == nil { hello.session = session }
        harness.connect().hello(hello)
        harness.turn()
        #expect(claims(harness) == 1 && harness.server.statistics.historyContradicted == 1)
        harness.turn()
        #expect(harness.server.tree.revision.epoch != 7)
    }

    @Test("C90: a session whose actions are all in the lost tail contradicts the history")
    func sessionInLostTail() throws {
        let harness = try ServerHarness.keeping()
        let first = harness.client()
        first.open("/visits")
        first.add(1)
        harness.turn()
        let late = harness.client()
        let session = try late.welcome().session
        late.open("/visits")
        late.add(1)
        harness.turn()
        let kept = harness.rows.filter { $0.sequence <= 1 }
        let restarted = try harness.restarted(rows: kept)
        // A confirmed action is not sent again, so no other message would reveal the loss.
        restarted.connect().hello(
            Hello(session: session, confirmed: 1, applied: 1, epoch: 7, since: 1))
        restarted.turn()
        #expect(claims(restarted) == 1)
        // The absence of a session that was evicted, or said goodbye, is no loss.
        let whole = try harness.restarted()
        let back = whole.connect()
        back.hello(Hello(session: session, confirmed: 1, applied: 1, epoch: 7, since: 1))
        whole.turn()
        back.send(.goodbye)
        whole.turn()
        let again = try whole.restarted(rows: harness.rows + whole.rows)
        again.connect().hello(
            Hello(session: session, confirmed: 1, applied: 1, epoch: 7, since: 1))
        again.turn()
        #expect(claims(whole) == 0 && claims(again) == 0)
    }

    @Test("a new epoch records no state that the history has, not even of children")
    func states() throws {
        let (harness, _) = try rolledBack()
        let builder = harness.client()
        builder.open("/house")
        for name in ["a", "b"] { builder.dispatch(House.Action.build(name: name)) }
        harness.turn()
        harness.client().subscribe("/visits", from: Revision(epoch: 7, sequence: 50))
        harness.turn()
        harness.turn()
        let row = try #require(harness.rows.last)
        #expect(row.epoch != 7)
        var places: [NodeRecord] = []
        for case .layout(let all) in try TurnFact.list(row.facts.span) { places += all }
        #expect(!places.isEmpty && places.allSatisfy { $0.state == nil })
    }

    @Test("no client can contradict a revision that this run of the daemon has recorded")
    func lie() throws {
        let harness = try ServerHarness.keeping()
        let client = harness.client()
        client.subscribe("/visits", from: Revision(epoch: 7, sequence: 99))
        harness.turn()
        #expect(client.frames(.snapshot).first?.flags.contains(.fresh) ?? false)
        #expect(claims(harness) == 0 && harness.server.tree.revision.epoch == 7)
        let (later, _) = try rolledBack()
        for _ in 1...3 {
            let liar = later.client()
            let epoch = later.server.tree.revision.epoch
            liar.subscribe("/visits", from: Revision(epoch: epoch, sequence: 99))
            later.turn()
            later.turn()
        }
        #expect(claims(later) == 1 && later.server.statistics.historyContradicted == 1)
    }

    @Test(
        "a client that knows only recorded revisions, or another epoch, contradicts nothing")
    func honest() throws {
        let (harness, session) = try rolledBack()
        let client = harness.connect()
        client.hello(Hello(session: session, confirmed: 9, applied: 3, epoch: 7, since: 0))
        harness.turn()
        client.subscribe("/visits", from: Revision(epoch: 7, sequence: 3))
        client.subscribe("/other", .value, from: Revision(epoch: 8, sequence: 30))
        harness.turn()
        #expect(claims(harness) == 0 && harness.server.tree.revision.epoch == 7)
    }

    @Test("a new epoch waits for the snapshot in progress")
    func snapshot() throws {
        let (harness, _) = try rolledBack()
        let client = harness.client()
        harness.turn()
        harness.server.wantSnapshot()
        harness.turn()
        let snapshot = try #require(harness.snapshots.last)
        client.subscribe("/visits", from: Revision(epoch: 7, sequence: 5))
        harness.turn()
        #expect(harness.server.tree.revision.epoch == 7)
        var parts: [[UInt8]] = []
        while !snapshot.isComplete {
            parts += snapshot.gather(1).map { $0() }
            harness.turn()
        }
        harness.turn()
        let revision = harness.server.tree.revision
        #expect(revision.epoch != 7 && revision.sequence == 3)
    }
}
