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

    /// The parts of a snapshot as they are lent, and how many of them came in pieces.
    private func lent(_ snapshot: ServerSnapshot) -> (parts: [[UInt8]], inPieces: Int) {
        var (parts, inPieces): ([[UInt8]], Int) = ([], 0)
        while !snapshot.isComplete {
            for part in snapshot.gather() {
                part.lend(
                    to: { parts.append([UInt8](copying: $0)) },
                    orInPieces: { byteCount, encode in
                        var bytes: [UInt8] = []
                        encode { bytes.append(contentsOf: $0, 0..<$0.count) }
                        #expect(bytes.count == byteCount)
                        parts.append(bytes)
                        inPieces += 1
                    })
            }
        }
        return (parts, inPieces)
    }

    @Test("J48: a large state is a separate part in pieces, and is restored from it")
    func largeStates() throws {
        let large = WireWriter.wholeByteCountMax + 5_000
        let sizes = [10, 700_000, large, 2_000, 900_000, 3 * large, 700_000]
        let names = sizes.indices.map { WireKey("n\($0)") }
        func tree() -> Tree {
            Tree(ReactorGroup(names.map { ($0, Ledger()) }), epoch: 7)
        }
        let limits = ServerLimits()
        let first = Recovery(of: tree(), limits: limits)
        let recovered = try first.finish(epoch: 7, sequence: 0)
        for (name, size) in zip(names, sizes) {
            let node = try #require(recovered.tree.node(at: SlicePath([name])))
            let action = Ledger.Action.blob(byteCount: size).wireBytes()
            _ = recovered.tree.dispatch(to: node, action.span, by: .daemon, ordinal: 0)
        }
        let (parts, inPieces) = lent(recovered.beginSnapshot())
        #expect(inPieces == 2)
        let nodesMax = ServerSnapshot.Part.partBytesMax + 1_000
        #expect(parts.filter { $0.count > nodesMax }.count == 2)
        let second = Recovery(of: tree(), limits: limits)
        for part in parts { try second.restore(part) }
        let sequence = recovered.tree.turn.sequence
        let restored = try second.finish(epoch: 7, sequence: sequence)
        for name in names {
            let pair = [recovered, restored].map { $0.tree.node(at: SlicePath([name])) }
            let bytes = pair.map { node in
                var writer = WireWriter()
                node?.encodeState(into: &writer)
                return writer.bytes
            }
            #expect(bytes[0] == bytes[1] && bytes[0].count > 1, "\(name)")
            #expect(pair[1]?.stateByteCount == bytes[1].count)
        }
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
