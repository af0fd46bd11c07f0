import ReactorCore
import ReactorServer
import ReactorWire
import Testing

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
        for part in RecoveryTests.parts(of: harness) { try recovery.restore(part) }
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

    @Test("a part that is no part is refused")
    func garbage() throws {
        let recovery = Recovery(of: TestTree.make(), limits: ServerLimits())
        #expect(throws: RecoveryError.self) { try recovery.restore([1, 2, 3]) }
        #expect(throws: RecoveryError.self) { try recovery.restore([]) }
    }

    @Test("a snapshot that is cancelled costs the server nothing more")
    func cancelled() throws {
        let harness = try ServerHarness.keeping()
        let snapshot = harness.server.beginSnapshot()
        snapshot.cancel()
        #expect(snapshot.isComplete)
        #expect(snapshot.gather().isEmpty)
        let again = harness.server.beginSnapshot()
        #expect(!again.isComplete)
        again.cancel()
    }
}
