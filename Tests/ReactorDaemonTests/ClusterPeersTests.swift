import Foundation
import ReactorCluster
import ReactorLoop
import Testing

@testable import ReactorDaemon

/// Drives ``ClusterPeers``, ``LeaderLink``, ``FollowerLinks`` and ``PeerEvents`` over real sockets.
@Suite("Links between the daemons of a cluster")
struct ClusterPeersTests {
    private let rig: PeerRig
    private let a = ClusterNode(1)
    private let b = ClusterNode(2)
    private let c = ClusterNode(3)

    init() throws { rig = try PeerRig() }

    private func leads(_ peers: ClusterPeers, _ node: ClusterNode, term: UInt64) {
        peers.update(incarnation: 1, isLeading: true, term: term, leader: node)
    }

    private func follows(
        _ peers: ClusterPeers, _ leader: ClusterNode?, term: UInt64, incarnation: UInt64 = 1
    ) {
        peers.update(incarnation: incarnation, isLeading: false, term: term, leader: leader)
    }

    @Test("a follower opens a link, and requests and replies arrive in order")
    func exchange() throws {
        let (first, second) = (try rig.start("a"), try rig.start("b"))
        leads(first, a, term: 3)
        follows(second, a, term: 3, incarnation: 9)
        #expect(rig.events.isEmpty, "an event is never reported from inside a call")
        #expect(try rig.holds { rig.events["a"] != nil && rig.events["b"] != nil })
        #expect(rig.events["a"] == [.joined(node: b, incarnation: 9)])
        #expect(rig.events["b"] == [.opened(term: 3)])
        for number in 1...50 as ClosedRange<UInt8> { second.send(request: [number]) }
        #expect(try rig.holds { rig.events["a"]?.count == 51 })
        for number in 1...50 as ClosedRange<UInt8> { first.send(reply: [number], to: b) }
        #expect(try rig.holds { rig.events["b"]?.count == 51 })
        #expect(rig.events["a"]?.dropFirst() == (1...50).map { .request(b, [$0]) }[...])
        #expect(rig.events["b"]?.dropFirst() == (1...50).map { .reply([$0]) }[...])
        #expect(
            first.status == PeerLinkStatus(isOpen: false, obstacle: nil, nodes: ["b"]))
        #expect(second.status == PeerLinkStatus(isOpen: true, obstacle: nil, nodes: []))
    }

    @Test("a node that does not lead refuses the link, and opens it once it leads")
    func refused() throws {
        let (first, second) = (try rig.start("a"), try rig.start("b"))
        follows(first, nil, term: 2)
        follows(second, a, term: 3)
        #expect(try rig.holds { second.status.obstacle == "node a does not lead" })
        second.send(request: [1])
        #expect(rig.events.isEmpty)
        leads(first, a, term: 3)
        #expect(try rig.holds { second.status.isOpen && rig.events["b"] != nil })
        #expect(second.status.obstacle == nil)
        #expect(rig.events["b"] == [.opened(term: 3)])
        #expect(rig.events["a"] == [.joined(node: b, incarnation: 1)])
    }

    @Test("the link opens once the leader's daemon runs, and again after its restart")
    func starts() throws {
        let second = try rig.start("b")
        follows(second, a, term: 3)
        #expect(try rig.holds { second.status.obstacle != nil })
        let first = try rig.start("a")
        leads(first, a, term: 3)
        #expect(try rig.holds { rig.changes("b") == [.opened(term: 3)] })
        first.close()
        #expect(try rig.holds { rig.changes("b").last == .closed })
        let other = try rig.start("a")
        leads(other, a, term: 3)
        #expect(
            try rig.holds {
                rig.changes("b") == [.opened(term: 3), .closed, .opened(term: 3)]
            })
    }

    @Test("a change of the leader moves the link")
    func moves() throws {
        let (first, second) = (try rig.start("a"), try rig.start("b"))
        let third = try rig.start("c")
        leads(first, a, term: 3)
        follows(second, a, term: 3)
        follows(third, a, term: 3)
        #expect(try rig.holds { rig.changes("a").count == 2 && rig.changes("c").count == 1 })
        leads(second, b, term: 5)
        follows(first, b, term: 5)
        follows(third, b, term: 5)
        #expect(try rig.holds { rig.changes("b").count == 4 && rig.changes("c").count == 3 })
        #expect(rig.changes("c") == [.opened(term: 3), .closed, .opened(term: 5)])
        #expect(rig.changes("b").prefix(2) == [.opened(term: 3), .closed])
        #expect(rig.changes("b").contains(.joined(node: a, incarnation: 1)))
        #expect(rig.changes("b").contains(.joined(node: c, incarnation: 1)))
        #expect(rig.changes("a").suffix(3) == [.left(b), .left(c), .opened(term: 5)])
    }

    @Test("another term and another incarnation open the link again, and the same values do not")
    func relinks() throws {
        let (first, second) = (try rig.start("a"), try rig.start("b"))
        leads(first, a, term: 3)
        follows(second, a, term: 3)
        #expect(try rig.holds { rig.changes("b").count == 1 })
        for _ in 0..<3 {
            leads(first, a, term: 3)
            follows(second, a, term: 3)
        }
        follows(second, a, term: 3, incarnation: 2)
        #expect(try rig.holds { rig.changes("b").count == 3 })
        leads(first, a, term: 4)
        follows(second, a, term: 4, incarnation: 2)
        #expect(try rig.holds { rig.changes("b").last == .opened(term: 4) })
        let opened = rig.changes("b").filter { $0 != .closed }
        #expect(opened == [.opened(term: 3), .opened(term: 3), .opened(term: 4)])
    }

    @Test("no link is wanted without an incarnation, a leader, or another node's leadership")
    func unwanted() throws {
        let (first, second) = (try rig.start("a"), try rig.start("b"))
        leads(first, a, term: 3)
        for (incarnation, leader) in [(0, a), (1, nil), (1, b)] as [(UInt64, ClusterNode?)] {
            follows(second, leader, term: 3, incarnation: incarnation)
            rig.loop.turn(.noWait)
            #expect(second.status == PeerLinkStatus(isOpen: false, obstacle: nil, nodes: []))
        }
        #expect(rig.events.isEmpty)
    }

    @Test("a node that falls silent is lost once, with its link, and can join again")
    func silent() throws {
        let first = try rig.start("a", lostAfter: .milliseconds(250))
        leads(first, a, term: 3)
        let silent = try PlayedPeer(to: rig.path("a"), on: rig.loop, incarnation: 4)
        #expect(try rig.holds { rig.changes("a").count == 4 && silent.ending != nil })
        let changes = rig.changes("a")
        #expect(
            changes.filter { $0 != .lost(c) } == [
                .joined(node: b, incarnation: 4), .left(b), .lost(b),
            ])
        #expect(silent.others == [.welcome(term: 3)])
        #expect(!silent.messages.contains(.beat))
        let other = try PlayedPeer(to: rig.path("a"), on: rig.loop, incarnation: 5)
        #expect(try rig.holds { rig.changes("a").count == 7 && other.ending != nil })
        #expect(
            rig.changes("a").suffix(3) == [
                .joined(node: b, incarnation: 5), .left(b), .lost(b),
            ])
    }

    @Test("a follower closes the link to a silent leader, and tries again")
    func silentLeader() throws {
        let leader = try PlayedLeader(at: rig.path("a"), on: rig.loop, term: 3)
        let second = try rig.start("b", lostAfter: .milliseconds(250))
        follows(second, a, term: 3)
        #expect(try rig.holds { rig.changes("b").count >= 3 })
        #expect(rig.changes("b").prefix(3) == [.opened(term: 3), .closed, .opened(term: 3)])
        #expect(leader.links[0].others == [.hello(cluster: "house", node: 2, incarnation: 1)])
        #expect(try rig.holds { leader.links.contains { $0.messages.contains(.beat) } })
    }

    @Test("a follower closes a link on which its signs of life have no answer, and tries again")
    func unanswered() throws {
        let leader = try PlayedLeader(at: rig.path("a"), on: rig.loop, term: 3)
        let second = try rig.start("b", lostAfter: .milliseconds(250))
        follows(second, a, term: 3)
        // A reply to each sign, so that the leader is not silent.
        var count = 0
        var obstacles: Set<String> = []
        #expect(
            try rig.holds {
                if let link = leader.links.last, link.messages.count != count {
                    count = link.messages.count
                    link.connection.send(.reply([1]))
                }
                if let obstacle = second.status.obstacle { obstacles.insert(obstacle) }
                return obstacles.contains { $0.hasPrefix("no answer of the leader for ") }
            })
        #expect(try rig.holds { second.status.isOpen })
    }

    @Test("a leader answers each sign of life")
    func answers() throws {
        leads(try rig.start("a"), a, term: 3)
        let peer = try PlayedPeer(to: rig.path("a"), on: rig.loop)
        for _ in 0..<2 { peer.connection.send(.beat) }
        #expect(try rig.holds { peer.messages == [.welcome(term: 3), .beat, .beat] })
    }

    @Test("what comes without a sign of this node does not show that the leader has heard of it")
    func oneWay() throws {
        let listener = try Listener(at: UnixAddress(rig.path("a")), on: rig.loop)
        var played: PlayedPeer?
        listener.onAccept = { socket in played = PlayedPeer(PeerConnection(socket)) }
        listener.resumeAccepting()
        let second = try rig.start("b")
        let start = second.leaderAnsweredAt
        follows(second, a, term: 3)
        #expect(try rig.holds { played?.messages.isEmpty == false })
        let helloAt = rig.loop.now
        let leader = try #require(played)
        // Later than the hello that the welcome answers.
        let later = helloAt + 20_000_000
        #expect(try rig.holds { rig.loop.now >= later })
        leader.connection.send(.welcome(term: 3))
        #expect(try rig.holds { second.leaderAnsweredAt > start })
        #expect(second.leaderAnsweredAt <= helloAt)
        // Of two signs of life, the leader answers one; the replies keep the link open.
        #expect(try rig.holds { leader.messages.count >= 3 })
        let secondAt = rig.loop.now
        leader.connection.send(.beat)
        #expect(try rig.holds { second.leaderAnsweredAt > helloAt })
        #expect(second.leaderAnsweredAt < secondAt)
        let answered = second.leaderAnsweredAt
        for count in 4...5 {
            leader.connection.send(.reply([1]))
            #expect(try rig.holds { leader.messages.count >= count })
        }
        #expect(second.leaderAnsweredAt == answered && second.status.isOpen)
        listener.close()
    }

    @Test("a second hello of a node replaces its link, and a late message of the first is dropped")
    func replaced() throws {
        let first = try rig.start("a")
        leads(first, a, term: 3)
        let former = try PlayedPeer(to: rig.path("a"), on: rig.loop, incarnation: 4)
        #expect(try rig.holds { former.others.count == 1 && rig.events["a"]?.count == 1 })
        let later = try PlayedPeer(to: rig.path("a"), on: rig.loop, incarnation: 5)
        #expect(try rig.holds { former.ending != nil && rig.events["a"]?.count == 2 })
        former.connection.send(.request([1]))
        later.connection.send(.request([2]))
        #expect(try rig.holds { rig.events["a"]?.count == 3 })
        #expect(
            rig.events["a"] == [
                .joined(node: b, incarnation: 4), .joined(node: b, incarnation: 5),
                .request(b, [2]),
            ])
        first.send(reply: [7], to: b)
        #expect(try rig.holds { later.others.count == 2 })
        #expect(later.others == [.welcome(term: 3), .reply([7])])
        #expect(first.status.nodes == ["b"])
    }

    @Test("events of a link that its owner ended never arrive")
    func cut() throws {
        let (first, second) = (try rig.start("a"), try rig.start("b"))
        leads(first, a, term: 3)
        follows(second, a, term: 3)
        #expect(try rig.holds { rig.events["a"]?.count == 1 && rig.events["b"]?.count == 1 })
        // Within the delivery of one event, the owner ends the link; the others wait behind it.
        var seen: [PeerEvent] = []
        first.onEvent = { [unowned first, a, b] event in
            seen.append(event)
            if case .request(b, [1]) = event {
                first.update(incarnation: 1, isLeading: false, term: 3, leader: nil)
                first.update(incarnation: 1, isLeading: true, term: 4, leader: a)
            }
        }
        for number in 1...3 as ClosedRange<UInt8> { second.send(request: [number]) }
        #expect(try rig.holds { rig.events["b"]?.last == .closed && seen.count == 2 })
        follows(second, a, term: 4)
        #expect(try rig.holds { seen.count == 3 })
        #expect(
            seen == [.request(b, [1]), .left(b), .joined(node: b, incarnation: 1)])
    }

    @Test("closed links stay closed, without an event")
    func closed() throws {
        let (first, second) = (try rig.start("a"), try rig.start("b"))
        leads(first, a, term: 3)
        follows(second, a, term: 3)
        #expect(try rig.holds { rig.events["a"]?.count == 1 && rig.events["b"]?.count == 1 })
        second.close()
        follows(second, a, term: 4)
        try second.listen()
        #expect(try rig.holds { rig.events["a"]?.count == 2 })
        #expect(rig.events["a"]?.last == .left(b) && rig.events["b"] == [.opened(term: 3)])
        #expect(second.status.isOpen == false)
        #expect(throws: LoopError.self) { try PeerConnection(to: rig.path("b"), on: rig.loop) }
    }

    @Test("a message before the event of its link is dropped")
    func early() throws {
        let (first, second) = (try rig.start("a"), try rig.start("b"))
        leads(first, a, term: 3)
        follows(second, a, term: 3)
        second.send(request: [1])
        first.send(reply: [1], to: b)
        #expect(try rig.holds { rig.events["a"] != nil && rig.events["b"] != nil })
        second.send(request: [2])
        #expect(try rig.holds { rig.events["a"]?.count == 2 })
        #expect(rig.events["a"]?.last == .request(b, [2]))
        #expect(rig.events["b"] == [.opened(term: 3)])
    }
}

extension ClusterPeersTests {
    @Test(
        "a hello of another cluster, of an unknown node or of the node itself is refused",
        arguments: [
            ("home", 2, "this is a node of cluster house"),
            ("house", 1, "node 1 is none of the other nodes of house"),
            ("house", 9, "node 9 is none of the other nodes of house"),
            ("house", 0, "node 0 is none of the other nodes of house"),
        ] as [(String, UInt8, String)])
    func strangers(cluster: String, node: UInt8, reason: String) throws {
        let first = try rig.start("a")
        leads(first, a, term: 3)
        let peer = try PlayedPeer(
            to: rig.path("a"), on: rig.loop, cluster: cluster, node: node)
        #expect(try rig.holds { peer.ending != nil })
        #expect(peer.messages == [.refused(reason)])
        #expect(rig.events.isEmpty)
    }

    @Test("a message out of place ends the link")
    func misplaced() throws {
        let first = try rig.start("a")
        leads(first, a, term: 3)
        let early = PlayedPeer(try PeerConnection(to: rig.path("a"), on: rig.loop))
        early.connection.send(.request([1]))
        #expect(try rig.holds { early.ending != nil })
        let peer = try PlayedPeer(to: rig.path("a"), on: rig.loop)
        #expect(try rig.holds { !peer.messages.isEmpty })
        peer.connection.send(.reply([1]))
        #expect(try rig.holds { peer.ending != nil && rig.events["a"]?.count == 2 })
        #expect(rig.events["a"] == [.joined(node: b, incarnation: 1), .left(b)])
    }

    @Test("a link to a leader of another term does not open")
    func otherTerm() throws {
        let (first, second) = (try rig.start("a"), try rig.start("b"))
        leads(first, a, term: 4)
        follows(second, a, term: 3)
        #expect(try rig.holds { second.status.obstacle == "the other daemon leads in term 4" })
        follows(second, a, term: 4)
        #expect(try rig.holds { rig.changes("b") == [.opened(term: 4)] })
    }

    @Test("a connection beyond those that may wait without a hello closes the oldest")
    func crowd() throws {
        let first = try rig.start("a")
        leads(first, a, term: 3)
        let crowd = try (0...FollowerLinks.strangersMax).map { _ in
            PlayedPeer(try PeerConnection(to: rig.path("a"), on: rig.loop))
        }
        #expect(try rig.holds { crowd[0].ending != nil })
        #expect(crowd.dropFirst().allSatisfy { $0.ending == nil })
    }

    @Test("a removed socket is bound again, and a second daemon cannot have it")
    func socket() throws {
        let first = try rig.start("a")
        #expect(throws: LoopError.self) { try rig.start("a") }
        leads(first, a, term: 3)
        try FileManager.default.removeItem(atPath: rig.path("a"))
        #expect(throws: LoopError.self) { try PeerConnection(to: rig.path("a"), on: rig.loop) }
        leads(first, a, term: 3)
        let peer = try PlayedPeer(to: rig.path("a"), on: rig.loop)
        #expect(try rig.holds { peer.others == [.welcome(term: 3)] })
    }

    @Test("each node is lost once, and again only after another sign")
    func signs() {
        var signs = PeerSigns(of: [b, c], since: 100, lostAfter: 50)
        #expect(signs.lost(at: 149) == [])
        signs.hear(b, at: 120)
        signs.hear(b, at: 90)
        signs.hear(a, at: 120)
        #expect(signs.lost(at: 150) == [c] && signs.lost(at: 169) == [])
        #expect(signs.lost(at: 170) == [b] && signs.lost(at: 1_000) == [])
        // A sign that was recorded before is no other sign.
        signs.hear(b, at: 120)
        #expect(signs.lost(at: 1_000) == [])
        signs.hear(c, at: 1_000)
        #expect(signs.lost(at: 1_049) == [] && signs.lost(at: 1_050) == [c])
    }
}
