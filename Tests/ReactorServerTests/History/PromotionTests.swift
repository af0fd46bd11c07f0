import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Trees with and without a reactor that only some daemons have.
private enum Trees {
    static func make(with extra: Bool, epoch: UInt64 = 99) -> Tree {
        var children: [(name: WireKey, reactor: any Reactor)] = [
            ("visits", Tally()), ("other", Tally()), ("page", Page()), ("house", House()),
        ]
        if extra { children.insert(("extra", Tally()), at: 1) }
        return Tree(ReactorGroup(children), epoch: epoch)
    }
}

/// A follower that begins to decide.
@Suite("A promoted server")
struct PromotionTests {
    /// A follower that leads, and another one that lacks its rows.
    private static func promoted() throws -> (leader: ServerHarness, third: ServerHarness) {
        let pair = try ServerPair()
        let third = try ServerPair.makeFollower(of: [], as: 3)
        try third.follow(pair.leader.rows)
        let leader = pair.follower
        try leader.server.lead(in: 2, at: leader.now)
        leader.turn()
        return (leader, third)
    }

    @Test("a promoted follower goes on from the state that it has, with its clients and sessions")
    func hot() throws {
        let pair = try ServerPair()
        let third = try ServerPair.makeFollower(of: [], as: 3)
        try third.follow(pair.leader.rows)
        let here = pair.follower.client()
        here.open("/visits")
        here.subscribe("/visits")
        pair.client.add(5)
        try pair.step()
        try third.follow(Array(pair.leader.rows.suffix(1)))
        #expect(try third.tally("/visits").count == 5)
        _ = here.frames()
        let revision = pair.follower.server.tree.revision
        try pair.follower.server.lead(in: 2, at: pair.follower.now)
        pair.follower.turn()
        #expect(pair.follower.server.mode == .leading)
        #expect(pair.follower.server.tree.revision == revision, "the epoch goes on")
        here.add(7)
        pair.follower.settle()
        let frames = here.frames()
        #expect(frames.map(\.kind) == [.delta, .mark, .applied])
        #expect(try pair.follower.tally("/visits").count == 12)
        try third.follow(pair.follower.rows)
        #expect(try third.tally("/visits").count == 12)
        // A recovery from all rows reaches the same state.
        let rows = pair.leader.rows + pair.follower.rows
        let restarted = try pair.leader.restarted(rows: rows)
        #expect(try restarted.tally("/visits").count == 12)
        #expect(here.id.rawValue > 2 << 56)
    }

    @Test("a follower that was cut off leads with its clients' new connections")
    func cut() throws {
        let pair = try ServerPair()
        pair.follower.server.setCut(true, at: pair.follower.now)
        pair.follower.turn()
        try pair.follower.server.lead(in: 2, at: pair.follower.now)
        pair.follower.turn()
        #expect(pair.follower.server.mode == .leading)
        let here = pair.follower.client()
        here.open("/visits")
        here.add(7)
        pair.follower.settle()
        #expect(try pair.follower.tally("/visits").count == 7)
    }

    @Test("a refusal that a client has not read is repeated after the promotion")
    func unreadRefusal() throws {
        let pair = try ServerPair()
        let here = pair.follower.client()
        let session = try here.welcome().session
        here.open("/visits")
        pair.follower.settle()
        here.add(1)
        pair.follower.settle()
        try pair.follower.server.lead(in: 2, at: pair.follower.now)
        here.add(10)
        here.add(100)
        pair.follower.settle()
        let unread = try OutcomeLog(here.frames())
        #expect(unread[1]?.code == FaultCode.elsewhere.rawValue && unread[3]?.isApplied == true)
        pair.follower.disconnect(here.id)
        let back = pair.follower.connect()
        back.hello(Hello(session: session))
        back.open("/visits")
        pair.follower.settle()
        _ = back.frames()
        back.dispatch(Tally.Action.add(by: 1), ordinal: 1)
        back.dispatch(Tally.Action.add(by: 10), ordinal: 2)
        pair.follower.settle()
        let again = try OutcomeLog(back.frames())
        #expect(again[1]?.code == FaultCode.elsewhere.rawValue && again[2]?.isApplied == true)
        #expect(try pair.follower.tally("/visits").count == 110)
    }

    @Test("a leader that is cut off tells its clients so at once, and nothing that the log lacks")
    func cutLeader() throws {
        let pair = try ServerPair()
        let here = pair.follower.client()
        here.open("/visits")
        here.subscribe("/visits")
        try pair.follower.server.lead(in: 2, at: pair.follower.now)
        pair.follower.settle()
        let stalled = pair.follower.client()
        stalled.socket.room = 0
        stalled.subscribe("/other")
        pair.follower.settle()
        _ = here.frames()
        pair.follower.appendsAtOnce = false
        here.add(7)
        pair.follower.settle()
        #expect(here.frames().isEmpty && !pair.follower.unappended.isEmpty)
        pair.follower.server.setCut(true, at: pair.follower.now)
        pair.follower.carryOut()
        let frames = here.frames()
        #expect(frames.map(\.kind) == [.closing] && here.socket.isClosed)
        #expect(try frames.first?.decode(Closing.self).code == .cut)
        let other = pair.follower.connect()
        pair.follower.carryOut()
        #expect(try other.frames(.closing).first?.decode(Closing.self).code == .cut)
        #expect(other.socket.isClosed)
        // The socket closes once the client has read what was written before.
        #expect(!stalled.socket.isClosed)
        stalled.socket.room = .max
        pair.follower.pump(stalled.id, stalled.socket)
        #expect(stalled.socket.isClosed && stalled.frames(.closing).isEmpty)
        // The log answers: the clients come back to their sessions.
        pair.follower.append()
        pair.follower.server.setCut(false, at: pair.follower.now)
        pair.follower.settle()
        #expect(try pair.follower.tally("/visits").count == 7)
        #expect(pair.follower.server.connectionCount == 0)
    }

    @Test("what the former leader's clients own ends, and what kept connections own stays")
    func owners() throws {
        let pair = try ServerPair()
        let third = try ServerPair.makeFollower(of: [], as: 3)
        try third.follow(pair.leader.rows)
        third.server.beginForwarding()
        third.server.openLink(to: 1, at: third.now)
        let other = third.client()
        other.open("/visits")
        other.dispatch(Tally.Action.hold)
        third.settle()
        for request in third.takeRequests() {
            pair.leader.server.receive(request, from: 3, at: pair.leader.now)
        }
        pair.client.dispatch(Tally.Action.hold)
        try pair.step()
        #expect(try pair.follower.tally("/visits").holders == 2)
        try pair.follower.server.lead(in: 2, keeping: [3], at: pair.follower.now)
        pair.follower.turn()
        #expect(try pair.follower.tally("/visits").holders == 1)
    }

    @Test("an answer that a client of the former leader waits for is refused, in the rows")
    func waits() throws {
        let pair = try ServerPair()
        let session = try #require(pair.leader.server.sessions.all.last?.secret)
        let third = try ServerPair.makeFollower(of: [], as: 3)
        pair.client.dispatch(Tally.Action.wait)
        try pair.step()
        try third.follow(pair.leader.rows)
        try pair.follower.server.lead(in: 2, at: pair.follower.now)
        pair.follower.turn()
        try third.follow(pair.follower.rows)
        for harness in [pair.follower, third] {
            let back = harness.connect()
            back.hello(Hello(session: session))
            harness.settle()
            #expect(try back.welcome().isResumed)
            back.dispatch(Tally.Action.wait, ordinal: 1)
            harness.settle()
            #expect(
                try OutcomeLog(back.frames())[1]?.code == FaultCode.ownerEnded.rawValue)
        }
    }

    @Test("clients of a follower learn from rows when effects end, what fails, and what is lost")
    func effects() throws {
        let pair = try ServerPair()
        let third = try ServerPair.makeFollower(of: [], as: 3)
        try third.follow(pair.leader.rows)
        try pair.follower.server.lead(in: 2, at: pair.follower.now)
        pair.follower.turn()
        let own = pair.follower.client()
        let session = try own.welcome().session
        own.open("/visits")
        own.add(1)
        pair.follower.settle()
        _ = own.frames()
        try third.follow(pair.follower.rows)
        var followed = pair.follower.rows.count
        let here = third.connect()
        here.hello(Hello(session: session))
        third.turn()
        #expect(try here.welcome().isResumed)
        // The frames of the leader's client and of the follower's, as a kind and an ordinal each.
        func told() throws -> [[String]] {
            pair.follower.settle()
            try third.follow(Array(pair.follower.rows[followed...]))
            followed = pair.follower.rows.count
            return [own, here].map { client in
                client.frames().map { "\($0.kind.map { "\($0)" } ?? "?") \($0.number)" }
            }
        }
        let work = DispatchOptions(cancel: "work")
        own.perform(.work(by: 1), 2, work)
        own.perform(.refuse(text: "no"), 3)
        own.dispatch(Tally.Action.circle, ordinal: 4)
        let first = ["applied 2", "outcome 3", "done 3", "applied 4", "notice 4"]
        #expect(try told() == [first, first])
        own.send(.dispatch, flags: .options, number: 5, work.wireBytes())
        #expect(try told() == [["applied 5", "done 2"], ["applied 5", "done 2"]])
        own.perform(.wait, 6)
        #expect(try told() == [[], []])
        own.dispatch(Tally.Action.grant(value: 5), ordinal: 7)
        let granted = ["applied 7", "outcome 6", "done 6"]
        #expect(try told() == [granted, granted])
        own.perform(.work(by: 1), 8)
        #expect(try told() == [["applied 8"], ["applied 8"]])
        // The effect does not run in the next leader.
        try third.server.lead(in: 3, at: third.now)
        third.turn()
        #expect(here.frames().map(\.kind) == [.notice, .done])
        let facts = try third.rows.flatMap { try TurnFact.list($0.facts.span) }
        #expect(facts.contains(.term(node: 3, term: 3)))
    }

    @Test("a leader without actions makes a row, which changes nothing on a follower")
    func idleRow() throws {
        let (leader, third) = try Self.promoted()
        try third.follow(leader.rows)
        let (rowCount, revision) = (leader.rows.count, leader.server.tree.revision)
        for _ in 0..<2 {
            leader.server.keepRow(at: leader.now)
            leader.turn()
        }
        let added = Array(leader.rows[rowCount...])
        #expect(added.count == 2 && added.allSatisfy { $0.deltas.count == 0 && !$0.facts.isEmpty })
        try third.follow(added)
        #expect(leader.server.tree.revision == revision && third.server.tree.revision == revision)
        let client = leader.start()
        client.add(5)
        leader.settle()
        try third.follow(Array(leader.rows[(rowCount + 2)...]))
        #expect(try third.tally("/visits").count == 5)
    }

    @Test("effects that a leader cancels are reported as lost, here, elsewhere, and later")
    func cancelled() throws {
        let (leader, third) = try Self.promoted()
        let (own, away) = (leader.client(), leader.client())
        let (session, gone) = (try own.welcome().session, try away.welcome().session)
        own.open("/visits")
        own.add(1)
        leader.settle()
        try third.follow(leader.rows)
        var followed = leader.rows.count
        let here = third.connect()
        here.hello(Hello(session: session))
        third.turn()
        away.open("/visits")
        away.perform(.work(by: 1), 1)
        own.perform(.work(by: 1), 2)
        own.perform(.refuse(text: "no"), 3)
        leader.settle()
        try third.follow(Array(leader.rows[followed...]))
        followed = leader.rows.count
        _ = (own.frames(), here.frames())
        leader.server.disconnect(away.id, at: leader.now)
        leader.settle()
        leader.server.loseEffects(at: leader.now)
        leader.settle()
        try third.follow(Array(leader.rows[followed...]))
        for client in [own, here] {
            let frames = client.frames()
            #expect(frames.map(\.kind) == [.notice, .done])
            let notice = try #require(frames.first).decode(Notice.self)
            #expect(notice.code == FaultCode.effectsLost.rawValue)
            #expect(frames.allSatisfy { $0.number == 2 })
        }
        #expect(leader.server.tree.effectsUnderWay.isEmpty)
        // The client that was away asks again.
        let back = leader.connect()
        back.hello(Hello(session: gone))
        leader.turn()
        back.open("/visits")
        back.perform(.work(by: 1), 1)
        leader.settle()
        let kinds = back.frames().map(\.kind).filter { $0 == .notice || $0 == .done }
        #expect(kinds == [.notice, .done])
        // A later effect ends as usual.
        own.perform(.refuse(text: "no"), 4)
        leader.settle()
        #expect(own.frames().map(\.kind) == [.outcome, .done])
    }

    @Test("a deposed leader has sent nothing that the log lacks, and its client goes on elsewhere")
    func deposed() throws {
        let pair = try ServerPair()
        let third = try ServerPair.makeFollower(of: [], as: 3)
        try pair.follower.server.lead(in: 2, at: pair.follower.now)
        pair.follower.turn()
        let here = pair.follower.client()
        let session = try here.welcome().session
        here.open("/visits")
        here.add(1)
        pair.follower.settle()
        _ = here.frames()
        pair.follower.appendsAtOnce = false
        here.add(5)
        pair.follower.settle()
        #expect(try pair.follower.tally("/visits").count == 6 && here.frames().isEmpty)
        // The log has every row but the last, and another server leads.
        let rows = pair.leader.rows + pair.follower.rows
        try third.follow(rows)
        try third.server.lead(in: 3, at: third.now)
        third.turn()
        let deposed = try ServerPair.makeFollower(of: rows, as: 2)
        deposed.server.succeed(pair.follower.server)
        try deposed.follow(third.rows)
        #expect(try deposed.tally("/visits").count == 1)
        let back = deposed.connect()
        back.hello(Hello(session: session, applied: 1))
        deposed.turn()
        #expect(try back.welcome().ordinal == 1)
        back.dispatch(Tally.Action.add(by: 5), ordinal: 2)
        deposed.settle()
        #expect(try OutcomeLog(back.frames())[2]?.code == FaultCode.elsewhere.rawValue)
        // The next leader carries the same action out, once.
        let there = third.connect()
        there.hello(Hello(session: session, applied: 1))
        third.turn()
        there.open("/visits")
        there.dispatch(Tally.Action.add(by: 5), ordinal: 2)
        third.settle()
        try deposed.follow(Array(third.rows.dropFirst()))
        #expect(try OutcomeLog(back.frames())[2]?.isApplied == true)
        #expect(try deposed.tally("/visits").count == 6)
    }

    @Test("a leader that steps down says so in its last row")
    func stepsDown() throws {
        let pair = try ServerPair()
        try pair.follower.server.lead(in: 2, at: pair.follower.now)
        pair.follower.turn()
        pair.follower.server.stepDown(to: 1, at: pair.follower.now)
        pair.follower.turn()
        let last = try #require(pair.follower.rows.last)
        #expect(try TurnFact.list(last.facts.span) == [.stepDown(to: 1)])
    }

    @Test("a reactor that the leader lacks is numbered apart, and keeps its number at promotion")
    func newcomers() throws {
        let pair = try ServerPair(with: Trees.make(with: true))
        pair.client.dispatch(House.Action.build(name: "a"), to: 3)
        pair.leader.settle()
        let here = pair.follower.client()
        here.subscribe("/extra")
        pair.follower.settle()
        try pair.follower.follow(pair.takeRows())
        #expect(pair.follower.server.connectionCount == 1, "no client is cut for a new child")
        let tree = pair.follower.server.tree
        let extra = try #require(tree.node(at: try SlicePath("/extra")))
        let room = try #require(tree.node(at: try SlicePath("/house/rooms/a")))
        let original = try #require(
            pair.leader.server.tree.node(at: try SlicePath("/house/rooms/a")))
        #expect(extra.number >= 0x7000_0000 && room.number == original.number)
        try pair.follower.server.lead(in: 2, at: pair.follower.now)
        pair.follower.turn()
        let owner = pair.follower.client()
        owner.open("/house")
        owner.dispatch(House.Action.build(name: "b"))
        pair.follower.settle()
        let next = try #require(tree.node(at: try SlicePath("/house/rooms/b")))
        #expect(extra.number >= 0x7000_0000 && next.number < 0x7000_0000)
        #expect(next.number > room.number)
        // Another daemon with the reactor follows from the start.
        let third = try ServerPair.makeFollower(Trees.make(with: true), of: [], as: 3)
        try third.follow(pair.leader.rows + pair.follower.rows)
        let same = try #require(third.server.tree.node(at: try SlicePath("/extra")))
        #expect(same.number == extra.number)
    }

    @Test("a layout that gives a followed reactor another number cuts the connections")
    func renumbered() throws {
        let pair = try ServerPair(with: Trees.make(with: true))
        let here = pair.follower.client()
        here.subscribe("/extra")
        pair.follower.settle()
        // The leader is upgraded, and numbers the reactor its own way.
        let recovery = Recovery(of: Trees.make(with: true), limits: ServerLimits())
        for row in pair.leader.rows { try recovery.replay(row) }
        let upgraded = ServerHarness(
            try recovery.finish(
                epoch: 7, sequence: pair.leader.rows.last?.sequence ?? 0), secretsFrom: 9_000)
        upgraded.turn()
        try pair.follower.follow(pair.takeRows() + upgraded.rows)
        #expect(pair.follower.server.connectionCount == 0)
        let path = try SlicePath("/extra")
        #expect(
            pair.follower.server.tree.node(at: path)?.number
                == upgraded.server.tree.node(at: path)?.number)
    }

    @Test("a promoted server answers as a leader: quotas of sessions, goodbyes and evictions hold")
    func sessions() throws {
        let pair = try ServerPair()
        pair.client.add(1)
        try pair.step()
        try pair.follower.server.lead(in: 2, at: pair.follower.now)
        pair.follower.turn()
        let here = pair.follower.client()
        here.open("/visits")
        here.add(1)
        pair.follower.settle()
        here.send(.goodbye)
        pair.follower.settle()
        let facts = try pair.follower.rows.flatMap { try TurnFact.list($0.facts.span) }
        let client = try #require(
            facts.compactMap { fact -> UInt64? in
                if case .session(let client, _, _) = fact { client } else { nil }
            }.first)
        #expect(client > UInt64(2) << 45 && client < UInt64(3) << 45)
        #expect(facts.contains(.goodbye(client: client)))
    }
}

/// The numbers of clients.
@Suite("Numbers of clients")
struct ClientNumbersTests {
    @Test("daemons give their clients different numbers, and skip only their own")
    func numbers() {
        var alone = ClientNumbers()
        #expect(alone.next() == 1)
        alone.skip(to: 7)
        #expect(alone.next() == 8)
        var second = ClientNumbers(of: 2)
        second.skip(to: 8)
        #expect(second.next() == 2 << 45 + 1)
        second.skip(to: 2 << 45 + 9)
        second.skip(to: 3 << 45 + 5)
        #expect(second.next() == 2 << 45 + 10)
    }
}
