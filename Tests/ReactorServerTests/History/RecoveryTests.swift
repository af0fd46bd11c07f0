import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

extension ServerHarness {
    /// A server with a journal that is still empty.
    static func keeping(
        limits: ServerLimits = ServerLimits(), change: (inout ServerLimits) -> Void = { _ in }
    ) throws -> ServerHarness {
        var limits = limits
        change(&limits)
        let recovery = Recovery(of: TestTree.make(), limits: limits)
        return ServerHarness(try recovery.finish(epoch: 7, sequence: 0))
    }

    /// The server after a restart from the appended rows, or from `parts` of a snapshot and the
    /// rows after it.
    func restarted(
        parts: [[UInt8]] = [], rows: [Batch]? = nil
    ) throws -> ServerHarness {
        let recovery = Recovery(of: TestTree.make(epoch: 99), limits: server.limits)
        for part in parts { try recovery.restore(part) }
        let rows = rows ?? self.rows
        for row in rows { try recovery.replay(row) }
        return ServerHarness(
            try recovery.finish(epoch: 7, sequence: rows.last?.sequence ?? 0), secretsFrom: 5_000)
    }
}

extension TestClient {
    /// The welcome, with its session and whether that is resumed.
    func welcome() throws -> Welcome {
        try #require(frames(.welcome).first).decode(Welcome.self)
    }
}

/// The actions and sessions of a daemon that crashes.
@Suite("Recovery")
struct RecoveryTests {
    /// A server with a client that has opened `/visits` as 0, and the client's session.
    private func start(
        _ change: (inout ServerLimits) -> Void = { _ in }
    ) throws -> (harness: ServerHarness, client: TestClient, session: [UInt8]) {
        let harness = try ServerHarness.keeping(change: change)
        let client = harness.client()
        let session = try client.welcome().session
        client.open("/visits")
        return (harness, client, session)
    }

    private func back(
        _ harness: ServerHarness, _ session: [UInt8], confirmed: UInt64 = 0, epoch: UInt64? = 7
    ) throws -> (client: TestClient, welcome: Welcome) {
        let client = harness.connect()
        client.hello(Hello(session: session, confirmed: confirmed, epoch: epoch))
        harness.turn()
        let welcome = try client.welcome()
        client.open("/visits")
        return (client, welcome)
    }

    // [WIRE-10-2]
    @Test("C85: an action that was committed and not acknowledged gets its original outcome, once")
    func committed() throws {
        let (harness, client, session) = try start()
        for _ in 0..<3 { client.add(2) }
        client.dispatch(Tally.Action.ask)
        client.dispatch(Tally.Action.refuse(text: "no"))
        client.dispatch(Tally.Action.add(by: 1), to: 9)
        harness.turn()
        let original = try OutcomeLog(client.frames())
        let restarted = try harness.restarted()
        #expect(try restarted.tally("/visits").count == 6)
        let (again, welcome) = try back(restarted, session)
        #expect(welcome.isResumed && welcome.ordinal == 6 && welcome.epoch == 7)
        for _ in 0..<3 { again.add(2) }
        again.dispatch(Tally.Action.ask)
        again.dispatch(Tally.Action.refuse(text: "no"))
        again.dispatch(Tally.Action.add(by: 1), to: 9)
        restarted.turn()
        let repeated = try OutcomeLog(again.frames())
        #expect(try restarted.tally("/visits").count == 6)
        for ordinal in 1...6 as ClosedRange<UInt64> {
            guard case .applied(let sequence, let reply, _)? = original[ordinal] else {
                #expect(repeated[ordinal] == original[ordinal])
                continue
            }
            // The connection that sent it has ended, and the daemon released what it owned.
            #expect(
                repeated[ordinal] == .applied(sequence: sequence, reply: reply, ownerEnded: true))
        }
        again.add(1)
        restarted.turn()
        #expect(try restarted.tally("/visits").count == 7)
        // A third daemon recovers all of it too.
        let third = try harness.restarted(rows: harness.rows + restarted.rows)
        let (last, _) = try back(third, session)
        for _ in 0..<7 { last.add(2) }
        third.turn()
        #expect(try third.tally("/visits").count == 7)
        #expect(try OutcomeLog(last.frames())[7]?.isApplied == true)
    }

    // [WIRE-4-7]
    @Test("C86: an action that was lost before its commit is sent again and applied once")
    func uncommitted() throws {
        let (harness, client, session) = try start()
        harness.appendsAtOnce = false
        client.add(5)
        harness.turn()
        #expect(try OutcomeLog(client.frames())[1] == nil)
        let restarted = try harness.restarted()
        #expect(try restarted.tally("/visits").count == 0)
        let (again, welcome) = try back(restarted, session)
        #expect(welcome.isResumed && welcome.ordinal == 0 && welcome.session == session)
        again.add(5)
        again.dispatch(Tally.Action.add(by: 5), ordinal: 1)
        restarted.turn()
        #expect(try restarted.tally("/visits").count == 5)
    }

    @Test("C85: a refusal on a full disk is repeated after a later crash")
    func refused() throws {
        let recovery = try Recovery(of: TestTree.make(), limits: ServerLimits())
            .finish(epoch: 7, sequence: 0)
        let harness = ServerHarness(recovery, isReadOnly: true)
        let client = harness.client()
        let session = try client.welcome().session
        client.open("/visits")
        client.add(1)
        harness.turn()
        let original = try OutcomeLog(client.frames())[1]
        guard case .rejected(FaultCode.diskFull.rawValue, _)? = original else {
            Issue.record("the action was \(String(describing: original))")
            return
        }
        #expect(harness.batches.isEmpty)
        harness.server.goOn()
        client.add(2)
        harness.turn()
        let restarted = try harness.restarted()
        let (again, welcome) = try back(restarted, session)
        #expect(welcome.isResumed && welcome.ordinal == 2)
        again.add(1)
        again.add(2)
        restarted.turn()
        let repeated = try OutcomeLog(again.frames())
        #expect(repeated[1] == original)
        #expect(repeated[2]?.isApplied == true)
        #expect(try restarted.tally("/visits").count == 2)
    }

    @Test("C85: a session that ended on a full disk stays ended after a crash")
    func endedWhileFull() throws {
        let (harness, client, session) = try start()
        client.add(1)
        harness.turn()
        let recovery = Recovery(of: TestTree.make(epoch: 99), limits: harness.server.limits)
        for row in harness.rows { try recovery.replay(row) }
        let full = ServerHarness(
            try recovery.finish(epoch: 7, sequence: 1), isReadOnly: true, secretsFrom: 3_000)
        let (again, welcome) = try back(full, session, confirmed: 1)
        #expect(welcome.isResumed)
        again.send(.goodbye)
        full.turn()
        full.server.goOn()
        full.turn()
        let restarted = try harness.restarted(rows: harness.rows + full.rows)
        #expect(try !back(restarted, session, confirmed: 1).welcome.isResumed)
    }

    // [WIRE-4-8]
    @Test("C86: a session of another history, or whose client has outcomes, is not adopted")
    func strangers() throws {
        let (harness, _, session) = try start()
        let restarted = try harness.restarted()
        #expect(try !back(restarted, session, epoch: 8).welcome.isResumed)
        #expect(try !back(restarted, session, epoch: nil).welcome.isResumed)
        #expect(try !back(restarted, session, confirmed: 1).welcome.isResumed)
        let other = [UInt8](repeating: 3, count: 16)
        #expect(try !back(restarted, other, epoch: 8).welcome.isResumed)
    }

    // [WIRE-4-8]
    @Test("C87: an evicted session is never adopted, neither at once nor after a restart")
    func evicted() throws {
        let (harness, client, session) = try start { $0.sessionsMax = 2 }
        client.add(1)
        harness.turn()
        client.disconnect()
        for _ in 0..<2 {
            let other = harness.client()
            other.open("/visits")
            other.add(10)
            harness.turn()
            other.disconnect()
        }
        #expect(try !back(harness, session).welcome.isResumed)
        let restarted = try harness.restarted()
        #expect(try !back(restarted, session).welcome.isResumed)
        let again = try harness.restarted(parts: Self.parts(of: restarted), rows: [])
        #expect(try !back(again, session).welcome.isResumed)
    }

    @Test("C85: a session whose client said goodbye leaves nothing behind")
    func goodbye() throws {
        let (harness, client, session) = try start()
        client.add(1)
        client.send(.goodbye)
        harness.turn()
        let restarted = try harness.restarted()
        #expect(restarted.server.memory.sessions == 0)
        #expect(try restarted.tally("/visits").count == 1)
        // Its action would be applied a second time.
        for daemon in [harness, restarted] {
            let (again, welcome) = try back(daemon, session)
            #expect(!welcome.isResumed)
            again.disconnect()
        }
        let third = try harness.restarted(parts: Self.parts(of: restarted), rows: [])
        #expect(try !back(third, session).welcome.isResumed)
    }

    @Test("X117: a row names only the open nodes that its batch uses")
    func aliases() throws {
        let (harness, client, _) = try start()
        for id in 1..<200 as Range<UInt32> {
            client.open(id % 2 == 0 ? "/visits" : "/other", as: id)
        }
        harness.turn()
        let first = harness.batches.count
        client.batch([
            (7, Tally.Action.add(by: 1)), (0, Tally.Action.add(by: 1)),
            (7, Tally.Action.add(by: 1)), (500, Tally.Action.add(by: 1)),
        ])
        harness.turn()
        let facts = try harness.batches[first...].flatMap { try TurnFact.list($0.facts.span) }
        let named = facts.compactMap { fact -> [UInt32]? in
            if case .action(_, _, let nodes, _) = fact { nodes.map(\.id) } else { nil }
        }
        #expect(named == [[7, 0]])
    }

    @Test("C87: once ended sessions are forgotten, sessions begun since are adopted")
    func forgotten() throws {
        let (harness, client, _) = try start()
        client.add(1)
        harness.turn()
        let late = harness.client()
        let welcome = try late.welcome()
        // A snapshot is the short way to a daemon that has forgotten this many sessions.
        let part = SnapshotPart.ended(sessions: [], forgottenUpTo: 0).wireBytes()
        for (since, isAdopted) in [(welcome.sequence, true), (0, false), (nil, false)] {
            let restarted = try harness.restarted(parts: [part])
            let again = restarted.connect()
            again.hello(Hello(session: welcome.session, epoch: 7, since: since))
            restarted.turn()
            #expect(try again.welcome().isResumed == isAdopted)
        }
    }

    @Test("an id of a durable task occurs once, over snapshots, restarts and lost ends")
    func taskIDs() throws {
        let (harness, _, _) = try start()
        let parts = try Self.parts(of: harness)
        let rows = harness.rows
        func next(_ parts: [[UInt8]], _ rows: [Batch], epoch: UInt64) throws -> UInt64 {
            let recovery = Recovery(of: TestTree.make(epoch: 99), limits: harness.server.limits)
            for part in parts { try recovery.restore(part) }
            for row in rows { try recovery.replay(row) }
            return try recovery.finish(epoch: epoch, sequence: 0).tree.lastTask
        }
        let before = harness.server.tree.lastTask
        #expect(try next(parts, [], epoch: 7) == before)
        #expect(try next([], rows, epoch: 7) == before)
        let numbers = SnapshotPart.numbers(connection: 1, client: 1, task: before + 5, epoch: 7)
        #expect(try next([numbers.wireBytes()], [], epoch: 7) == before + 5)
        // The number of ids in the lost end is unknown.
        let another = try next([numbers.wireBytes()], [], epoch: 1 << 63)
        #expect(another > before + 1 << 31)
        let later = Batch(turn: 0, epoch: 1 << 63, after: 0, sequence: 0)
        #expect(try next([numbers.wireBytes()], [later], epoch: 1 << 63) == another)
        #expect(try next([numbers.wireBytes()], [], epoch: 1 << 62) != another)
    }

    @Test("a session without actions is not kept; one whose action was rejected is")
    func blank() throws {
        let (harness, client, _) = try start()
        _ = harness.client()
        client.dispatch(Tally.Action.refuse(text: "no"))
        harness.turn()
        // No action was applied, and yet the journal must record the arrival.
        #expect(harness.batches.last?.after == harness.batches.last?.sequence)
        let restarted = try harness.restarted()
        #expect(restarted.server.memory.sessions == 1)
    }

    @Test("R96: a restart ends former connections in its first turn, before it serves clients")
    func connectionsEnd() throws {
        let (harness, client, session) = try start()
        client.dispatch(Tally.Action.hold)
        client.dispatch(Tally.Action.wait)
        harness.turn()
        let restarted = try harness.restarted()
        #expect(try restarted.tally("/visits").holders == 0)
        restarted.turn()
        #expect(restarted.batches.count == 1)
        let (again, _) = try back(restarted, session)
        again.dispatch(Tally.Action.hold)
        again.dispatch(Tally.Action.wait)
        restarted.turn()
        let log = try OutcomeLog(again.frames())
        #expect(log[1] == .applied(sequence: 1, reply: nil, ownerEnded: true))
        #expect(log[2]?.code == "OWNER_ENDED")
        // No other connection may have the number of an earlier one.
        #expect(restarted.server.highestConnection > harness.server.highestConnection)
        let third = try harness.restarted(rows: harness.rows + restarted.rows)
        #expect(try third.tally("/visits") == restarted.tally("/visits"))
    }

    @Test("C89: a client that reconnects after a restart gets the deltas that it missed")
    func ring() throws {
        let (harness, client, _) = try start()
        for _ in 0..<5 { client.add(1) }
        harness.turn()
        let restarted = try harness.restarted()
        let reader = restarted.client()
        reader.subscribe("/visits", from: Revision(epoch: 7, sequence: 2))
        restarted.turn()
        let frames = reader.frames()
        #expect(
            try frames.first { $0.kind == .subscribed }?.decode(Subscribed.self).start == .deltas)
        #expect(frames.filter { $0.kind == .delta }.map(\.number) == [3, 4, 5])
    }

    @Test("C89: deltas that are no longer in memory come from the journal, if it has all of them")
    func fromJournal() throws {
        let (harness, client, _) = try start { $0.ringBytesMax = 200 }
        for _ in 0..<6 {
            client.add(1)
            harness.turn()
        }
        var asked: [HistoryQuestion] = []
        let visits = try #require(harness.server.tree.node(at: try SlicePath("/visits")))
        harness.past = { [unowned harness] question in
            asked.append(question)
            var frames: [UInt8] = []
            for row in harness.rows where row.sequence <= question.upTo {
                _ = question.collect(
                    from: Array(row.deltas.storage[row.deltas.range]), into: &frames)
            }
            return frames
        }
        func resume(_ sequence: UInt64) throws -> (Subscribed.Start?, [UInt64]) {
            let reader = harness.client()
            reader.subscribe("/visits", from: Revision(epoch: 7, sequence: sequence))
            harness.turn()
            harness.settle()
            let frames = reader.frames()
            return (
                try frames.first { $0.kind == .subscribed }?.decode(Subscribed.self).start,
                frames.filter { $0.kind == .delta }.map(\.number)
            )
        }
        #expect(try resume(1) == (.deltas, [2, 3, 4, 5, 6]))
        #expect(asked.map(\.after) == [1] && asked.map(\.node) == [visits.number])
        #expect(try resume(6) == (.unchanged, []))
        #expect(asked.count == 1)
        harness.past = nil
        #expect(try resume(1) == (.snapshot, []))
    }

    @Test("J48: rows replayed in pieces, with snapshots between, lead to the same server")
    func everything() throws {
        var random = SeededGenerator(seed: 11)
        for round in 0..<12 {
            let harness = try ServerHarness.keeping()
            var clients = (0..<4).map { _ in Self.worker(harness) }
            var parts: [[UInt8]] = []
            var first = 0
            var snapshot: ServerSnapshot?
            for _ in 0..<60 {
                Self.act(&clients, harness, &random)
                harness.turn()
                if snapshot == nil, parts.isEmpty, Int.random(in: 0..<10, using: &random) == 0 {
                    snapshot = try harness.beginSnapshot()
                    first = harness.batches.count
                }
                if let run = snapshot {
                    parts += run.gather().map { $0() }
                    if run.isComplete { snapshot = nil }
                }
            }
            if let run = snapshot { parts += harness.parts(of: run) }
            let live = try Self.picture(harness)
            let whole = try harness.restarted()
            let split = try harness.restarted(
                parts: parts, rows: Array(harness.rows[(parts.isEmpty ? 0 : first)...]))
            #expect(try Self.picture(whole) == Self.picture(split), "round \(round)")
            // A restart ends all connections, so end those of the live server before the
            // comparison.
            for client in clients { client.disconnect() }
            harness.turn()
            #expect(try Self.picture(harness) == Self.picture(whole), "round \(round)")
            #expect(!live.isEmpty)
        }
    }
}

// MARK: - Workers
extension RecoveryTests {
    static func parts(of harness: ServerHarness) throws -> [[UInt8]] {
        harness.parts(of: try harness.beginSnapshot())
    }

    private static func worker(_ harness: ServerHarness) -> TestClient {
        let client = harness.client()
        client.open("/visits", as: 0)
        client.open("/other", as: 1)
        client.open("/house", as: 2)
        return client
    }

    private static func act(
        _ clients: inout [TestClient], _ harness: ServerHarness,
        _ random: inout SeededGenerator
    ) {
        for index in clients.indices {
            let client = clients[index]
            let node = UInt32.random(in: 0...1, using: &random)
            switch Int.random(in: 0..<14, using: &random) {
            case 0: client.dispatch(Tally.Action.refuse(text: "no"), to: node)
            case 1: client.dispatch(Tally.Action.ask, to: node)
            case 2: client.dispatch(Tally.Action.wait, to: node)
            case 3: client.dispatch(Tally.Action.grant(value: 4), to: node)
            case 4: client.dispatch(Tally.Action.hold, to: node)
            case 5: client.dispatch(Tally.Action.chain(by: 2), to: node)
            case 6:
                client.batch([(0, Tally.Action.add(by: 3)), (1, Tally.Action.add(by: 4))])
            case 7:
                client.batch([(0, Tally.Action.add(by: 3)), (1, Tally.Action.refuse(text: ""))])
            case 8: client.dispatch(House.Action.build(name: "r\(index)"), to: 2)
            case 9: client.dispatch(House.Action.tear(name: "r\(index)"), to: 2)
            case 10:
                client.disconnect()
                clients[index] = worker(harness)
            case 11: client.send(.confirm, number: client.ordinal / 2)
            default: for _ in 0..<3 { client.add(1, to: node) }
            }
        }
    }

    /// The parts of the server that a restart must not change.
    private static func picture(_ harness: ServerHarness) throws -> [String] {
        var lines: [String] = []
        harness.server.tree.forEachNode { node in
            var writer = WireWriter()
            node.encodeState(into: &writer)
            lines.append("\(node.path) \(node.number) \(writer.bytes)")
        }
        return lines
    }
}
