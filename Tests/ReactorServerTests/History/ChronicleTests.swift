import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// The facts that a journal gets besides deltas, tested without a server.
struct ChronicleTests {
    private let tree = TestTree.make(epoch: 7)
    private let orders = ShellOrders(logInterval: 10, eventsMax: 4)
    private let session = Session(secret: [1, 2], uid: 5, client: 3)
    private let peer = Peer(uid: 5, gid: 5, pid: 1)
    private let full = Outcome.rejected(code: FaultCode.diskFull.rawValue, message: "full")

    private func chronicle(keepsHistory: Bool = true, epoch: UInt64 = 7) throws -> Chronicle {
        let limits = ServerLimits()
        let recovery = Recovery(of: tree, limits: limits)
        let numbers = SnapshotPart.numbers(connection: 0, client: 0, task: 0, epoch: 7)
        try recovery.restore(numbers.wireBytes())
        return Chronicle(
            try recovery.finish(epoch: epoch, sequence: 0), keepsHistory: keepsHistory, limits,
            orders)
    }

    private func facts(_ chronicle: Chronicle) throws -> [TurnFact] {
        try TurnFact.list(chronicle.makeBatch(of: 1, ByteSlice([])).facts.span)
    }

    private func events() -> [ServerEvent] {
        let taken = orders.takeAll()
        return taken.compactMap { if case .log(let event) = $0 { event } else { nil } }
    }

    @Test("a run is recorded after its session's first action, and not without a journal")
    func runs() throws {
        let run = AppliedRun(ordinal: 1, sequence: 4, count: 2)
        let frames: [UInt8] = [7, 8]
        let chronicle = try chronicle()
        chronicle.record(run: run, [], frames.span, session, .daemon)
        chronicle.record(run: run, [], frames.span, session, .daemon)
        let written = TurnFact.run(
            by: ActionSource(.daemon), ordinal: 1, sequence: 4, count: 2, nodes: [], frames: frames)
        #expect(
            try facts(chronicle) == [
                .session(client: 3, secret: [1, 2], uid: 5), written, written,
            ])
        #expect(!chronicle.hasFacts && session.isStored)
        let silent = try self.chronicle(keepsHistory: false)
        silent.record(run: run, [], frames.span, session, .daemon)
        #expect(!silent.hasFacts)
    }

    @Test("only a turn that requires it has a durable batch")
    func durability() throws {
        let chronicle = try chronicle()
        chronicle.requireDurability()
        #expect(chronicle.makeBatch(of: 1, ByteSlice([])).isDurable)
        chronicle.beginTurn()
        #expect(!chronicle.makeBatch(of: 2, ByteSlice([])).isDurable)
    }

    @Test("the end of a session on a full disk is recorded once there is room")
    func readOnly() throws {
        let chronicle = try chronicle()
        chronicle.beginReadOnly()
        session.markStored()
        chronicle.record(evicted: [session])
        chronicle.record(.sums([1]))
        #expect(chronicle.isReadOnly && !chronicle.hasFacts)
        chronicle.goOn(.shrinking)
        #expect(chronicle.admission == .shrinking)
        #expect(try facts(chronicle).last == .evicted(client: 3))
    }

    @Test("actions refused for lack of space are recorded once all actions are admitted")
    func refusals() throws {
        let limits = ServerLimits()
        let recovery = Recovery(of: tree, limits: limits)
        let known = recovery.sessions.make(uid: 5, secret: [9], at: 0).0
        let chronicle = Chronicle(
            try recovery.finish(epoch: 7, sequence: 0), keepsHistory: true, limits, orders)
        chronicle.beginReadOnly()
        chronicle.goOn(.shrinking)
        _ = try facts(chronicle)
        known.remember(full, of: 1, limits.outcomes)
        chronicle.record(full, of: 1, known)
        #expect(!chronicle.hasFacts && known.unkeptOrdinal == 1)
        chronicle.admitAll()
        #expect(
            try facts(chronicle) == [
                .session(client: known.client, secret: [9], uid: 5),
                .outcome(client: known.client, ordinal: 1, is: full),
            ])
        #expect(known.unkeptOrdinal == nil)
    }

    @Test("C90: a later revision ends an inherited epoch once, and the daemon's own epoch never")
    func epochs() throws {
        let late = Revision(epoch: 7, sequence: 9)
        let inherited = try chronicle()
        inherited.compare(Revision(epoch: 7, sequence: 0), of: peer)
        inherited.compare(Revision(epoch: 8, sequence: 9), of: peer)
        #expect(!inherited.beginEpochIfContradicted { 11 } && events().isEmpty)
        inherited.compare(late, of: peer)
        inherited.compare(late, of: peer)
        #expect(events().count == 1 && orders.stats.historyContradicted == 2)
        #expect(inherited.beginEpochIfContradicted { 11 } && tree.turn.epoch == 11)
        inherited.compare(Revision(epoch: 11, sequence: 9), of: peer)
        #expect(!inherited.beginEpochIfContradicted { 12 } && events().isEmpty)
    }

    @Test("a server that succeeds one which began its epoch itself has inherited none")
    func successor() throws {
        let former = try chronicle(keepsHistory: false)
        let next = try chronicle()
        next.succeed(former)
        next.compare(Revision(epoch: 7, sequence: 9), of: peer)
        #expect(!next.beginEpochIfContradicted { 11 } && events().isEmpty)
    }

    @Test("a snapshot begins once its turn is sealed, and holds the last connection's number")
    func snapshots() throws {
        let chronicle = try chronicle()
        chronicle.record(connection: ConnectionID(6))
        chronicle.record(connection: ConnectionID(4))
        #expect(chronicle.highestConnection == 6 && !chronicle.isSnapshotDue)
        chronicle.wantSnapshot()
        #expect(chronicle.isSnapshotDue && chronicle.snapshot == nil)
        chronicle.advanceSnapshot(0)
        let snapshot = try #require(chronicle.snapshot)
        #expect(!chronicle.isSnapshotDue)
        var parts: [[UInt8]] = []
        while !snapshot.isComplete {
            parts += snapshot.gather().map { $0() }
            chronicle.advanceSnapshot(0)
        }
        #expect(chronicle.snapshot == nil)
        let last = try #require(parts.last)
        let numbers = try SnapshotPart(wireBytes: last.span)
        guard case .numbers(6, _, _, 7) = numbers else {
            Issue.record("\(numbers) are not the numbers")
            return
        }
    }
}
