import ReactorCore
import Testing

@Suite("Tree: followers, batches and the end of connections")
struct TreeDispatchTests {
    @Test("F43: an action dispatched inside another runs after it, as a revision of its own")
    func followers() throws {
        let tree = Tree(Desk(), epoch: 1)
        #expect(try tree.send(Desk.Action.hop(3)) == "applied 1")
        #expect(tree.revision.sequence == 4)
        #expect(try tree.state(of: Desk.self).log == ["step 3", "step 2", "step 1", "step 0"])
        #expect(tree.deltas == ["0@1", "0@2", "0@3", "0@4"])
    }

    @Test("F43: followers run in the order of their requests, and their own followers after them")
    func breadth() throws {
        let tree = Tree(ReactorGroup([("a", Desk()), ("b", Desk())]), epoch: 1)
        #expect(try tree.send(Desk.Action.fan(3), to: "/a") == "applied 1")
        #expect(
            try tree.state(of: Desk.self, "/a").log == ["step 3", "step 0", "step -1", "step -2"])
        #expect(try tree.send(Desk.Action.hop(0), to: "/b") == "applied 5")
    }

    @Test("R100: a follower that calls itself is cut off at depth 64 with a LOOP that names it")
    func loop() throws {
        let tree = Tree(ReactorGroup([("desk", Desk())]), epoch: 1)
        #expect(try tree.send(Desk.Action.loop, to: "/desk", from: 3, ordinal: 9) == "applied 1")
        #expect(
            try tree.state(of: Desk.self, "/desk").log.count == 1 + CoreLimits.followerDepthMax)
        let complaint = try #require(tree.turn.complaints.first)
        #expect(tree.turn.complaints.count == 1)
        #expect(complaint.hasPrefix("LOOP"))
        #expect(complaint.contains("client 103 ordinal 9") && complaint.contains("/desk"))
        let failure = try #require(tree.turn.failures.first)
        #expect(tree.turn.failures.count == 1)
        #expect(failure.origin == Origin(client: 103, ordinal: 9) && failure.code == "LOOP")
        #expect(try tree.send(Desk.Action.hop(0), to: "/desk") == "applied 66")
    }

    @Test("R100: an action has at most 1,024 followers")
    func followersMax() throws {
        let tree = Tree(Desk(), epoch: 1)
        #expect(try tree.send(Desk.Action.fan(CoreLimits.followersMax)) == "applied 1")
        #expect(tree.turn.complaints.isEmpty)
        #expect(tree.revision.sequence == UInt64(1 + CoreLimits.followersMax))
        try tree.send(Desk.Action.fan(CoreLimits.followersMax + 1))
        #expect(tree.turn.complaints.count == 1)
        #expect(tree.revision.sequence == UInt64(2 + 2 * CoreLimits.followersMax))
    }

    @Test("the requests of a rejected action are dropped with it")
    func rejectedRequests() throws {
        let tree = Tree(Desk(), epoch: 1)
        #expect(try tree.send(Desk.Action.takeAndRefuse("a")) == "rejected refused")
        #expect(try tree.send(Desk.Action.hop(0)) == "applied 1")
        tree.endConnection(1)
        #expect(tree.revision.sequence == 1)
        #expect(try tree.state(of: Desk.self).log == ["step 0"])
    }

    @Test("several actions are one transaction, each seeing the result of the previous ones")
    func batch() throws {
        let tree = Tree(Shop(), epoch: 1)
        let result = try tree.sendTogether([
            ("/", Shop.Action.visit(2)), ("/visits", Tally.Action.add(3)),
            ("/", Shop.Action.visit(4)), ("/", Shop.Action.open("a")),
        ])
        #expect(result == "applied 1")
        #expect(tree.revision.sequence == 1)
        #expect(
            try tree.state(of: Shop.self).notes == ["visit after 0", "visit after 5", "open a"])
        #expect(try tree.state(of: Tally.self, "/visits").sum == 9)
        #expect(tree.deltas.allSatisfy { $0.hasSuffix("@1") })
    }

    @Test("R96: a child created by a rejected batch is removed, with all below it")
    func batchFreesChildren() throws {
        let tree = Tree(Shop(), epoch: 1)
        let count = tree.mountedCount
        weak var room: AnyNode?
        weak var guests: AnyNode?
        tree.onMount = { node in
            if node.path.description == "/rooms/x" { room = node }
            if node.path.description == "/rooms/x/guests" { guests = node }
        }
        let result = try tree.sendTogether([
            ("/", Shop.Action.open("x")), ("/", Shop.Action.refuseAfterLooking),
        ])
        #expect(!result.hasPrefix("applied"))
        #expect(room == nil && guests == nil && tree.mountedCount == count)
    }

    @Test("R96: a batch with one rejected action leaves no trace")
    func batchRollsBack() throws {
        let tree = Tree(ReactorGroup([("shop", Shop()), ("desk", Desk())]), epoch: 1)
        try tree.send(Shop.Action.open("stays"), to: "/shop")
        try tree.send(Room.Action.place(1), to: "/shop/rooms/stays")
        tree.turn.begin()
        let value = try tree.json()
        let stays = try #require(try tree.node(at: SlicePath("/shop/rooms/stays")))
        let sequences = try ["/", "/shop", "/shop/rooms", "/shop/visits", "/desk"].map { path in
            tree.node(at: try SlicePath(path))?.sequence
        }
        let result = try tree.sendTogether([
            ("/shop", Shop.Action.visit(20)), ("/shop", Shop.Action.open("new")),
            ("/shop", Shop.Action.close("stays")), ("/desk", Desk.Action.take("key")),
            ("/desk", Desk.Action.hop(2)), ("/shop/visits", Tally.Action.refuse),
        ])
        #expect(result == "rejected refused")
        #expect(try tree.json() == value)
        #expect(
            try ["/", "/shop", "/shop/rooms", "/shop/visits", "/desk"].map { path in
                tree.node(at: try SlicePath(path))?.sequence
            } == sequences)
        #expect(tree.revision.sequence == 2)
        #expect(tree.deltas.isEmpty && tree.turn.changes.isEmpty && tree.turn.removed.isEmpty)
        #expect(!stays.isGone && tree.node(stays.number) === stays)
        #expect(try tree.json("/shop/rooms/new") == nil)
        tree.endConnection(1)
        #expect(tree.revision.sequence == 2)
        #expect(try tree.send(Room.Action.place(1), to: "/shop/rooms/stays") == "applied 3")
        #expect(try tree.state(of: Room.self, "/shop/rooms/stays").chairs == 2)
    }

    @Test("a rejected batch names the refused action")
    func batchMessage() throws {
        let tree = Tree(Tally(), epoch: 1)
        var writer = WireWriter()
        Tally.Action.add(1).encode(into: &writer)
        let middle = writer.count
        Tally.Action.refuse.encode(into: &writer)
        let items = [
            Tree.BatchItem(node: tree.root, range: 0..<middle),
            Tree.BatchItem(node: tree.root, range: middle..<writer.count),
        ]
        let result = writer.withBytes { tree.transact(items, $0, by: .daemon, ordinal: 1) }
        guard case .failed(.rejected(let rejection)) = result else {
            Issue.record("expected a rejection, got \(result)")
            return
        }
        #expect(rejection == Rejection("refused", "action 1: the sum 1 stays"))
        #expect(try tree.state(of: Tally.self) == Tally.State())
    }

    @Test("followers of a batch run after it, and a later action runs normally again")
    func batchFollowers() throws {
        let tree = Tree(Desk(), epoch: 1)
        #expect(
            try tree.sendTogether([("/", Desk.Action.hop(1)), ("/", Desk.Action.hop(0))])
                == "applied 1")
        #expect(try tree.state(of: Desk.self).log == ["step 1", "step 0", "step 0"])
        #expect(tree.revision.sequence == 2)
        #expect(try tree.send(Desk.Action.hop(0)) == "applied 3")
    }

    @Test("the end of a connection is a transaction of each reactor in which it owned an object")
    func connectionEnds() throws {
        let tree = Tree(ReactorGroup([("a", Desk()), ("b", Desk()), ("c", Desk())]), epoch: 1)
        try tree.send(Desk.Action.take("x"), to: "/b", from: 1)
        try tree.send(Desk.Action.take("y"), to: "/a", from: 1)
        try tree.send(Desk.Action.take("z"), to: "/b", from: 1)
        try tree.send(Desk.Action.take("q"), to: "/c", from: 2)
        try tree.send(Desk.Action.take("gone"), to: "/c", from: 1)
        try tree.send(Desk.Action.drop("gone"), to: "/c", from: 1)
        let before = tree.revision.sequence
        tree.endConnection(1)
        #expect(tree.revision.sequence == before + 2)
        #expect(try tree.state(of: Desk.self, "/b").log.last == "end of 1: [x, z]")
        #expect(try tree.state(of: Desk.self, "/a").log.last == "end of 1: [y]")
        #expect(try tree.state(of: Desk.self, "/c").log == ["taken q", "taken gone"])
        tree.endConnection(1)
        #expect(tree.revision.sequence == before + 2)
    }
}
