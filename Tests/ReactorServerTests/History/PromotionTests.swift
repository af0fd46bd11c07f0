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
        try pair.follower.server.lead(at: pair.follower.now)
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
        try pair.follower.server.lead(at: pair.follower.now)
        pair.follower.turn()
        #expect(pair.follower.server.mode == .leading)
        let here = pair.follower.client()
        here.open("/visits")
        here.add(7)
        pair.follower.settle()
        #expect(try pair.follower.tally("/visits").count == 7)
    }

    @Test("what the former leader's clients own ends, and what kept connections own stays")
    func owners() throws {
        let pair = try ServerPair()
        let other = pair.leader.client()
        other.open("/visits")
        other.dispatch(Tally.Action.hold)
        pair.client.dispatch(Tally.Action.hold)
        try pair.step()
        #expect(try pair.follower.tally("/visits").holders == 2)
        try pair.follower.server.lead(keeping: [other.id.rawValue], at: pair.follower.now)
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
        try pair.follower.server.lead(at: pair.follower.now)
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
        try pair.follower.server.lead(at: pair.follower.now)
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
        try pair.follower.server.lead(at: pair.follower.now)
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
