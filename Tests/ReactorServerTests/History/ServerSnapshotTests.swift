import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

@Suite("ServerSnapshot")
struct ServerSnapshotTests {
    @Test("J48: a snapshot has states, sessions with all outcomes, ownership and numbers")
    func everything() throws {
        let harness = try ServerHarness.keeping()
        let client = harness.client()
        let session = try client.welcome().session
        client.open("/visits")
        client.add(3)
        client.dispatch(Tally.Action.refuse(text: "no"))
        client.dispatch(Tally.Action.ask)
        client.dispatch(Tally.Action.hold)
        client.dispatch(Tally.Action.wait)
        harness.turn()
        let original = try OutcomeLog(client.frames())
        let recovery = Recovery(of: TestTree.make(epoch: 99), limits: harness.server.limits)
        for part in try RecoveryTests.parts(of: harness) { try recovery.restore(part) }
        let sequence = harness.server.tree.turn.sequence
        let restarted = ServerHarness(try recovery.finish(epoch: 7, sequence: sequence))
        #expect(try restarted.tally("/visits").count == 3)
        #expect(try restarted.tally("/visits").holders == 0)
        #expect(restarted.server.highestConnection == harness.server.highestConnection)
        let again = restarted.connect()
        again.hello(Hello(session: session))
        restarted.turn()
        #expect(try again.welcome().ordinal == 5)
        again.open("/visits")
        for _ in 0..<4 { again.add(1) }
        restarted.turn()
        let repeated = try OutcomeLog(again.frames())
        #expect(repeated[2] == original[2])
        guard case .applied(_, let reply, _)? = repeated[3],
            case .applied(_, let first, _)? = original[3]
        else {
            Issue.record("the reply is gone: \(repeated)")
            return
        }
        #expect(reply == first && reply != nil)
        #expect(try restarted.tally("/visits").count == 3)
    }

    @Test("sessions with many outcomes are copied a few at a time")
    func largeSessions() throws {
        let limits = ServerLimits()
        let recovery = Recovery(of: TestTree.make(), limits: limits)
        for client in 1...6 as ClosedRange<UInt64> {
            recovery.sessions.restore(client: client, secret: [UInt8(client)], uid: 0)
            let session = try #require(recovery.sessions.find(client: client))
            for ordinal in 1...3_000 as ClosedRange<UInt64> {
                session.remember(
                    AppliedRun(ordinal: 2 * ordinal, sequence: 1, count: 1), limits.outcomes)
            }
        }
        let snapshot = try recovery.finish(epoch: 7, sequence: 0).beginSnapshot()
        var counts: [Int] = []
        while !snapshot.isComplete {
            for part in snapshot.gather() {
                if case .sessions(let saved) = try SnapshotPart(wireBytes: part()) {
                    counts.append(saved.count)
                }
            }
        }
        #expect(counts == [2, 2, 2])
    }

    @Test("bytes that are no part of a snapshot are refused")
    func garbage() throws {
        let recovery = Recovery(of: TestTree.make(), limits: ServerLimits())
        #expect(throws: RecoveryError.self) { try recovery.restore([1, 2, 3]) }
        #expect(throws: RecoveryError.self) { try recovery.restore([]) }
    }

    @Test("a cancelled snapshot costs the server nothing more")
    func cancelled() throws {
        let harness = try ServerHarness.keeping()
        let snapshot = try harness.beginSnapshot()
        snapshot.cancel()
        #expect(snapshot.isComplete)
        #expect(snapshot.gather().isEmpty)
        let again = try harness.beginSnapshot()
        #expect(!again.isComplete)
        again.cancel()
    }

    @Test("J48: a snapshot contains the batches before it, and nothing of the current turn")
    func sealed() throws {
        let harness = try ServerHarness.keeping { $0.inFlightMax = 8 }
        let client = harness.client()
        client.open("/visits")
        harness.turn()
        var aheadCount = 0
        for _ in 0..<20 {
            // The turn's end makes room in flight, so the server runs more actions there.
            for _ in 0..<40 { client.add(1) }
            let snapshot = try harness.beginSnapshot()
            let rows = harness.rows.filter { $0.sequence <= snapshot.sequence }
            #expect(rows.last?.sequence == snapshot.sequence)
            if harness.server.tree.turn.sequence > snapshot.sequence { aheadCount += 1 }
            let parts = harness.parts(of: snapshot)
            let rest = harness.rows.filter { $0.sequence > snapshot.sequence }
            let restarted = try harness.restarted(parts: parts, rows: rest)
            let whole = try harness.restarted()
            #expect(try restarted.tally("/visits") == whole.tally("/visits"))
            harness.settle()
        }
        #expect(aheadCount > 0, "the case did not come up")
    }

    @Test("J48: the sessions in a snapshot are those of the batches up to its last turn")
    func completed() throws {
        let harness = try ServerHarness.keeping { $0.inFlightMax = 8 }
        let client = harness.client()
        client.open("/visits")
        harness.turn()
        let snapshot = try harness.beginSnapshot()
        while !snapshot.isComplete {
            for _ in 0..<40 { client.add(1) }
            _ = snapshot.gather()
            harness.turn()
        }
        let last = try #require(snapshot.lastTurn)
        let batch = try #require(harness.batches.last { $0.turn <= last })
        #expect(batch.turn == last && batch.sequence >= snapshot.sequence)
    }
}
