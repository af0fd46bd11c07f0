import ReactorCore
import Testing

@Suite("Children")
struct ChildTests {
    @Test("F63: a parent's mutation and its child's are one transaction, the parent's first")
    func oneTransaction() throws {
        let tree = Tree(Shop(), epoch: 1)
        #expect(try tree.send(Shop.Action.visit(3)) == "applied 1")
        #expect(try tree.send(Shop.Action.visit(4)) == "applied 2")
        #expect(try tree.state(of: Tally.self, "/visits").sum == 7)
        #expect(try tree.state(of: Shop.self).notes == ["visit after 0", "visit after 3"])
        #expect(tree.deltas == ["0@1", "1@1", "0@2", "1@2"])
    }

    @Test("F65: a parent's reaction to a child's mutation is in the same transaction")
    func react() throws {
        let tree = Tree(Shop(), epoch: 1)
        #expect(try tree.send(Tally.Action.add(9), to: "/visits") == "applied 1")
        #expect(try tree.send(Tally.Action.add(10), to: "/visits") == "applied 2")
        #expect(try tree.state(of: Shop.self).notes == ["a crowd of 10"])
        #expect(tree.deltas == ["1@1", "1@2", "0@2"])
        #expect(try tree.send(Shop.Action.visit(12)) == "applied 3")
        #expect(
            try tree.state(of: Shop.self).notes
                == ["a crowd of 10", "visit after 19", "a crowd of 12"])
    }

    @Test("keyed children are created, read, mutated and removed by their parent")
    func keyed() throws {
        let tree = Tree(Shop(), epoch: 1)
        #expect(try tree.send(Shop.Action.furnish("a", 2)) == "rejected no_room")
        #expect(try tree.send(Shop.Action.open("a")) == "applied 1")
        #expect(try tree.send(Shop.Action.furnish("a", 2)) == "applied 2")
        #expect(try tree.send(Room.Action.place(3), to: "/rooms/a") == "applied 3")
        #expect(try tree.state(of: Room.self, "/rooms/a") == Room.State(name: "a", chairs: 5))
        #expect(
            try tree.state(of: Shop.self).notes
                == ["open a", "0 chairs", "a got 2", "a got 3"])
        #expect(try tree.send(Shop.Action.open("a")) == "rejected CONFLICT")
        #expect(try tree.state(of: Room.self, "/rooms/a").chairs == 5)
        #expect(try tree.send(Shop.Action.close("a")) == "applied 4")
        #expect(try tree.json("/rooms/a") == nil)
        #expect(try tree.send(Shop.Action.close("a")) == "applied 5")
        #expect(tree.turn.complaints.isEmpty)
    }

    @Test("a child removed and created in one transaction starts from its initial state")
    func recreated() throws {
        let tree = Tree(Shop(), epoch: 1)
        try tree.send(Shop.Action.open("a"))
        try tree.send(Room.Action.place(3), to: "/rooms/a")
        let old = try #require(try tree.node(at: SlicePath("/rooms/a")))
        try tree.send(Shop.Action.reopen("a"))
        let new = try #require(try tree.node(at: SlicePath("/rooms/a")))
        #expect(old.isGone && !new.isGone)
        #expect(old.number != new.number)
        #expect(tree.turn.removed.contains { $0 === old })
        #expect(try tree.state(of: Room.self, "/rooms/a").chairs == 0)
        #expect(tree.node(new.number) === new)
        #expect(tree.node(old.number) == nil)
    }

    @Test("a child in a collection is not confused with a static child of the same name")
    func sameName() throws {
        let tree = Tree(Shop(), epoch: 1)
        #expect(try tree.send(Shop.Action.open("visits")) == "applied 1")
        #expect(try tree.send(Room.Action.place(20), to: "/rooms/visits") == "applied 2")
        #expect(try tree.state(of: Shop.self).notes == ["open visits", "visits got 20"])
    }

    @Test("R100: reactions that cause each other are cut off, and the tree reports it")
    func reactionLoop() throws {
        let tree = Tree(Dizzy(), epoch: 1)
        #expect(try tree.send(Dizzy.Action.start) == "applied 1")
        #expect(tree.turn.complaints.count == 1)
        #expect(tree.turn.complaints.allSatisfy { $0.hasPrefix("LOOP") })
        #expect(tree.turn.failures.map(\.code) == ["LOOP"])
        let turns = try tree.state(of: Dizzy.self).turns
        #expect(turns == CoreLimits.reactionDepthMax + 1)
        #expect(try tree.send(Dizzy.Action.start) == "applied 2")
        #expect(try tree.state(of: Dizzy.self).turns == 2 * turns)
    }
}
