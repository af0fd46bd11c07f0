import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// A server that applies the rows of another one. Drives ``RowApplier`` and ``LiveRedo``.
@Suite("A following server")
struct FollowTests {
    @Test("a follower reaches the leader's states, numbers and revisions, row by row")
    func states() throws {
        let pair = try ServerPair()
        for round in 0..<20 {
            pair.client.add(round)
            pair.client.dispatch(Page.Action.title("page \(round)"), to: 2)
            pair.client.dispatch(House.Action.build(name: "room \(round)"), to: 3)
            pair.client.dispatch(Tally.Action.chain(by: 2), to: 1)
            pair.client.batch([(0, Tally.Action.add(by: 1)), (1, Tally.Action.add(by: 2))])
            pair.client.dispatch(Tally.Action.refuse(text: "no"))
            if round % 3 == 2 {
                pair.client.dispatch(House.Action.tear(name: "room \(round - 1)"), to: 3)
                pair.client.dispatch(House.Action.build(name: "room \(round - 1)"), to: 3)
            }
            try pair.step()
        }
        #expect(try pair.follower.tally("/visits").count == 20 * 19 / 2 + 20)
        #expect(pair.follower.batches.isEmpty, "a follower hands out a batch")
        #expect(pair.follower.server.mode == .following && pair.follower.server.isReadOnly)
    }

    @Test("clients of a follower get deltas, values, and the end of removed nodes, as the leader's")
    func clients() throws {
        let pair = try ServerPair()
        pair.client.dispatch(House.Action.build(name: "a"), to: 3)
        try pair.step()
        var mirrors: [(client: TestClient, mirror: PlainMirror)] = []
        for harness in [pair.leader, pair.follower] {
            let client = harness.client()
            var mirror = PlainMirror()
            client.follow("/visits", in: &mirror)
            client.follow("/house/rooms/a", in: &mirror)
            client.follow("/page", in: &mirror)
            client.follow("/house", .value, in: &mirror)
            harness.settle()
            mirrors.append((client, mirror))
        }
        func look() throws {
            for index in mirrors.indices {
                try mirrors[index].mirror.take(mirrors[index].client.frames())
            }
        }
        pair.client.open("/house/rooms/a", as: 4)
        for round in 0..<5 {
            pair.client.add(3)
            pair.client.add(round, to: 4)
            pair.client.dispatch(Page.Action.body("body \(round)"), to: 2)
            pair.client.dispatch(House.Action.build(name: "b\(round)"), to: 3)
            try pair.step()
            try look()
            for (_, mirror) in mirrors {
                #expect(try mirror.tally("/visits") == pair.leader.tally("/visits"))
                #expect(
                    try mirror.tally("/house/rooms/a") == pair.leader.tally("/house/rooms/a"))
                #expect(mirror.page("/page")?.body == "body \(round)")
                #expect(try mirror.value("/house") == pair.leader.value("/house"))
                #expect(mirror.markedSequence == pair.leader.server.tree.turn.sequence)
            }
        }
        pair.client.dispatch(House.Action.tear(name: "a"), to: 3)
        try pair.step()
        try look()
        #expect(mirrors.map(\.mirror.gone.count) == [1, 1])
        // The ids of replicas are the same in both.
        #expect(mirrors[0].mirror.gone == mirrors[1].mirror.gone)
    }

    @Test("a client that comes back to a follower gets the deltas that it missed")
    func resumes() throws {
        let pair = try ServerPair()
        pair.client.add(1)
        try pair.step()
        let revision = pair.follower.server.tree.revision
        pair.client.add(2)
        try pair.step()
        pair.client.add(3)
        try pair.step()
        let client = pair.follower.client()
        client.subscribe("/visits", from: revision)
        pair.follower.settle()
        let frames = client.frames()
        let start = try #require(frames.first { $0.kind == .subscribed })
        #expect(try start.decode(Subscribed.self).start == .deltas)
        #expect(frames.filter { $0.kind == .delta }.map(\.number) == [2, 3])
    }

    @Test("a session gets delta, mark and outcome of its actions from the row, in order")
    func outcomes() throws {
        let pair = try ServerPair()
        let own = try Self.begin(pair)
        let here = pair.follower.connect()
        here.hello(Hello(session: own.session))
        pair.follower.turn()
        #expect(try here.welcome().isResumed)
        here.subscribe("/visits")
        pair.follower.settle()
        _ = here.frames()
        own.client.add(5)
        own.client.add(6)
        own.client.dispatch(Tally.Action.ask)
        own.client.dispatch(Tally.Action.refuse(text: "no"))
        own.client.dispatch(Tally.Action.wait)
        own.client.dispatch(Tally.Action.grant(value: 8))
        try pair.step()
        let frames = here.frames()
        #expect(
            frames.map(\.kind) == [
                .delta, .delta, .delta, .delta, .mark, .applied, .outcome, .outcome, .applied,
                .outcome,
            ])
        let log = try OutcomeLog(frames)
        let expected = try OutcomeLog(own.client.frames())
        for ordinal in 2...7 as ClosedRange<UInt64> {
            #expect(log.outcomes[ordinal] == expected.outcomes[ordinal], "\(ordinal)")
            #expect(log.outcomes[ordinal]?.count == 1)
        }
        // A repeat is answered from the rows.
        here.dispatch(Tally.Action.add(by: 5), ordinal: 2)
        pair.follower.settle()
        #expect(try OutcomeLog(here.frames())[2] == expected[2])
    }

    /// A client of the leader whose session has an action, which the follower has applied.
    private static func begin(
        _ pair: ServerPair
    ) throws -> (client: TestClient, session: [UInt8]) {
        let client = pair.leader.client()
        let session = try client.welcome().session
        client.open("/visits")
        client.add(0)
        try pair.step()
        _ = client.frames()
        return (client, session)
    }

    @Test("a follower refuses new actions with ELSEWHERE, and leaves their ordinals unused")
    func elsewhere() throws {
        let pair = try ServerPair()
        let own = try Self.begin(pair)
        let here = pair.follower.connect()
        here.hello(Hello(session: own.session))
        pair.follower.turn()
        here.open("/visits")
        pair.follower.settle()
        _ = here.frames()
        here.dispatch(Tally.Action.add(by: 1), ordinal: 2)
        here.send(
            .dispatch, flags: [.awaited], id: 0, number: 3, Tally.Action.add(by: 1).wireBytes())
        here.send(.batch, number: 4, [0x80])
        pair.follower.settle()
        let frames = here.frames()
        let log = try OutcomeLog(frames)
        for ordinal in 2...4 as ClosedRange<UInt64> {
            #expect(log[ordinal]?.code == FaultCode.elsewhere.rawValue)
        }
        #expect(frames.filter { $0.kind == .done }.map(\.number) == [3])
        guard case .rejected(_, let text)? = log[2] else { return }
        #expect(text.contains("follows a:"))
        pair.follower.server.setLeader("c")
        here.dispatch(Tally.Action.add(by: 1), ordinal: 5)
        pair.follower.settle()
        let next = try OutcomeLog(here.frames())
        guard case .rejected(_, let text)? = next[5] else { return }
        #expect(text.contains("follows c:"))
        try pair.compare()
        // The leader accepts the same ordinal.
        own.client.dispatch(Tally.Action.add(by: 9), ordinal: 2)
        try pair.step()
        #expect(try OutcomeLog(here.frames())[2]?.isApplied == true)
    }

    @Test("a follower that is cut off serves no client, applies rows, and serves again afterwards")
    func cut() throws {
        let pair = try ServerPair()
        let here = pair.follower.client()
        let admin = pair.follower.connect(uid: 0, isAtAdminSocket: true)
        pair.follower.server.setCut(true, at: pair.follower.now)
        pair.follower.settle()
        let closing = try #require(here.frames(.closing).first)
        #expect(try closing.decode(Closing.self).code == .cut)
        #expect(pair.follower.server.mode == .cut && pair.follower.server.isReadOnly)
        #expect(!pair.follower.server.admission.lacksSpace)
        #expect(pair.follower.server.statistics.refusals[.cut] == 1)
        let other = pair.follower.connect()
        pair.follower.settle()
        #expect(try other.frames(.closing).first?.decode(Closing.self).code == .cut)
        #expect(pair.follower.server.statistics.refusals[.cut] == 2)
        // An administrator sees what is wrong.
        admin.hello()
        pair.follower.turn()
        #expect(admin.frames(.welcome).count == 1)
        pair.client.add(3)
        try pair.step()
        #expect(try pair.follower.tally("/visits").count == 3)
        pair.follower.server.setCut(false, at: pair.follower.now)
        #expect(pair.follower.server.mode == .following)
        let back = pair.follower.client()
        #expect(try back.welcome().sequence == 1)
    }

    @Test("a follower serves no client before it knows that it has all rows")
    func beginning() throws {
        let recovery = Recovery(of: TestTree.make(), limits: ServerLimits())
        recovery.prepareToFollow()
        let server = Server(following: try recovery.finish(epoch: 7, sequence: 0), as: 2) { 1 }
        #expect(server.mode == .cut)
        server.setCut(false, at: 1)
        #expect(server.mode == .following)
    }

    @Test("what clients of a follower do ends nothing that the leader's clients own")
    func disconnects() throws {
        let pair = try ServerPair()
        pair.client.dispatch(Tally.Action.hold)
        try pair.step()
        let own = try Self.begin(pair)
        let here = pair.follower.connect()
        here.hello(Hello(session: own.session))
        pair.follower.turn()
        here.send(.goodbye)
        pair.follower.settle()
        here.disconnect()
        pair.follower.settle()
        try pair.compare()
        #expect(try pair.follower.tally("/visits").holders == 1)
        // The session goes on in the leader, and in the follower after it.
        own.client.add(2)
        try pair.step()
        let back = pair.follower.connect()
        back.hello(Hello(session: own.session))
        pair.follower.turn()
        #expect(try back.welcome().ordinal == 2)
    }

    @Test("the end of a session in the leader closes its connection to the follower")
    func goodbyes() throws {
        let pair = try ServerPair()
        let own = try Self.begin(pair)
        let here = pair.follower.connect()
        here.hello(Hello(session: own.session))
        pair.follower.turn()
        own.client.send(.goodbye)
        pair.leader.settle()
        try pair.follower.follow(pair.takeRows())
        let closing = try #require(here.frames(.closing).first)
        #expect(try closing.decode(Closing.self).code == .kicked)
        #expect(pair.follower.server.connectionCount == 0)
    }

    @Test("a session that a client began in a follower becomes the one that the leader records")
    func adopted() throws {
        let pair = try ServerPair()
        let client = pair.leader.client()
        let session = try client.welcome().session
        client.open("/visits")
        // The follower does not know the session, and adopts it for the client.
        let here = pair.follower.connect()
        here.hello(Hello(session: session, epoch: 7, since: 0))
        pair.follower.turn()
        #expect(try here.welcome().client > 1 << 45)
        client.add(4)
        try pair.step()
        #expect(here.frames(.closing).count == 1)
        let back = pair.follower.connect()
        back.hello(Hello(session: session))
        pair.follower.turn()
        let welcome = try back.welcome()
        #expect(welcome.client < 1 << 45 && welcome.ordinal == 1)
    }

    @Test("a session of a row is there, also where the follower gave its number to another client")
    func sameNumber() throws {
        // As where the follower has lost rows in which its own clients act.
        let pair = try ServerPair(as: 0)
        let client = pair.leader.client()
        let lost = try client.welcome()
        client.open("/visits")
        let admins = (0..<2).map { _ in
            pair.follower.connect(uid: 0, isAtAdminSocket: true)
        }
        for admin in admins { admin.hello() }
        pair.follower.turn()
        #expect(try admins.last?.welcome().client == lost.client)
        client.add(4)
        try pair.step()
        #expect(try admins.last?.frames(.closing).first?.decode(Closing.self).code == .kicked)
        #expect(pair.follower.server.connectionCount == 1)
        let back = pair.follower.connect()
        back.hello(Hello(session: lost.session, epoch: 7, since: 0))
        pair.follower.turn()
        let welcome = try back.welcome()
        #expect(welcome.isResumed && welcome.client == lost.client && welcome.ordinal == 1)
    }

    @Test("a row that does not follow, or of another epoch, is refused and changes nothing")
    func misplaced() throws {
        let pair = try ServerPair()
        for _ in 0..<3 {
            pair.client.add(1)
            pair.leader.settle()
        }
        let rows = pair.takeRows().filter { $0.sequence != $0.after }
        let now = pair.follower.now
        #expect(throws: FollowError.misplaced(after: 1, expected: 0)) {
            try pair.follower.server.follow(rows[1], at: now)
        }
        var other = rows[0]
        other = Batch(
            turn: other.turn, epoch: 8, after: other.after, sequence: other.sequence,
            deltas: other.deltas, facts: other.facts)
        #expect(throws: FollowError.otherEpoch(8)) {
            try pair.follower.server.follow(other, at: now)
        }
        try pair.follower.follow(rows)
        #expect(throws: FollowError.misplaced(after: 2, expected: 3)) {
            try pair.follower.server.follow(rows[2], at: now)
        }
        try pair.compare()
    }

    @Test("a follower whose states differ from the probed ones stops, and names the node")
    func diverged() throws {
        let pair = try ServerPair()
        while pair.leader.probes.isEmpty {
            pair.client.add(1)
            try pair.step()
        }
        let visits = try #require(
            pair.follower.server.tree.node(at: try SlicePath("/visits")) as? Node<Tally>)
        let sequence = pair.leader.server.tree.turn.sequence
        let (sums, byteCount) = try #require(pair.leader.probes.first).sums()
        pair.leader.server.summed(sums.map { $0 ^ 1 }, byteCount: byteCount)
        pair.client.add(1)
        pair.leader.settle()
        let rows = pair.takeRows()
        #expect(
            throws: FollowError.unapplied(
                .diverged(path: visits.path.description, sequence: sequence))
        ) { try pair.follower.follow(rows) }
    }

    @Test("a snapshot of a follower holds one revision, whatever rows it applies while it is taken")
    func snapshots() throws {
        let pair = try ServerPair()
        for number in 0..<4 {
            pair.client.dispatch(House.Action.build(name: "r\(number)"), to: 3)
        }
        pair.client.add(1)
        try pair.step()
        let revision = pair.follower.server.tree.revision
        let snapshot = try pair.follower.beginSnapshot()
        let state = try pair.follower.value("/")
        var parts: [[UInt8]] = []
        var number = 0
        while !snapshot.isComplete {
            parts += snapshot.gather(2).map { $0() }
            number += 1
            pair.client.add(number)
            pair.client.dispatch(House.Action.tear(name: "r\(number - 1)"), to: 3)
            pair.client.dispatch(House.Action.build(name: "s\(number)"), to: 3)
            pair.client.dispatch(Page.Action.title("\(number)"), to: 2)
            try pair.step()
            pair.follower.client().subscribe("/visits")
            pair.follower.settle()
        }
        #expect(number > 3 && snapshot.sequence == revision.sequence)
        // Turns without a row do not count: the journal has nothing of them.
        #expect(pair.follower.followedTurns.contains(snapshot.lastTurn ?? 0))
        let recovery = Recovery(of: TestTree.make(epoch: 99), limits: ServerLimits())
        for part in parts { try recovery.restore(part) }
        _ = try recovery.finish(epoch: 7, sequence: revision.sequence)
        var writer = WireWriter()
        recovery.tree.root.encodeValue(into: &writer)
        #expect(writer.bytes == state)
    }
}
