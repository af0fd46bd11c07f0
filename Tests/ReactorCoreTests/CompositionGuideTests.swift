import ReactorCore
import Testing

@Suite("guide: composition")
struct CompositionGuideTests {
    private typealias Action = Warehouse.Action

    @Test("parent, child and the reaction of the parent change in one transaction")
    func transaction() throws {
        let tree = Tree(Warehouse(), epoch: 1)
        #expect(try tree.send(Action.open("nuts")) == "applied 1")
        #expect(try tree.send(Action.store("nuts", 3)) == "applied 2")
        #expect(try tree.state(of: Bin.self, "/bins/nuts").count == 3)
        #expect(try tree.state(of: Bin.self, "/total").count == 3)
        #expect(try tree.send(Bin.Action.add(4), to: "/bins/nuts") == "applied 3")
        #expect(try tree.state(of: Bin.self, "/total").count == 7)
        #expect(try tree.state(of: Warehouse.self).notes == ["stored 3 in nuts"])
    }

    @Test("a wrong key refuses the action, and changes nothing")
    func keys() throws {
        let tree = Tree(Warehouse(), epoch: 1)
        #expect(try tree.send(Action.open("nuts")) == "applied 1")
        #expect(try tree.send(Action.open("nuts")) == "rejected CONFLICT")
        #expect(try tree.send(Action.store("bolts", 1)) == "rejected NOT_FOUND")
        #expect(try tree.state(of: Warehouse.self).notes == [])
        #expect(try tree.send(Action.close("nuts")) == "applied 2")
    }

    @Test("a bin decides what is sent to it, and its refusal refuses the whole action")
    func sending() throws {
        let tree = Tree(Warehouse(), epoch: 1)
        #expect(try tree.send(Action.open("nuts")) == "applied 1")
        #expect(try tree.send(Action.open("bolts")) == "applied 2")
        #expect(try tree.send(Action.store("nuts", 3)) == "applied 3")
        let tooMany = Action.move(from: "nuts", to: "bolts", amount: 4)
        #expect(try tree.send(tooMany) == "rejected too_few")
        let some = Action.move(from: "nuts", to: "bolts", amount: 2)
        #expect(try tree.send(some) == "applied 4")
        #expect(try tree.state(of: Bin.self, "/bins/nuts").count == 1)
        #expect(try tree.state(of: Bin.self, "/bins/bolts").count == 2)
        #expect(try tree.state(of: Warehouse.self).notes == ["stored 3 in nuts", "moved 2"])
    }

    @Test("a follower is a transaction of its own, directly after the action")
    func follower() throws {
        let tree = Tree(Warehouse(), epoch: 1)
        #expect(try tree.send(Action.open("nuts")) == "applied 1")
        #expect(try tree.send(Action.restock("nuts")) == "applied 2")
        #expect(tree.revision.sequence == 3)
        #expect(try tree.state(of: Bin.self, "/bins/nuts").count == 10)
        #expect(try tree.send(Action.close("nuts")) == "rejected not_empty")
    }

    @Test("the reactor decides what follows from a refused follower and from a removed child")
    func hooks() throws {
        let tree = Tree(Warehouse(), epoch: 1)
        #expect(try tree.send(Action.restock("nuts")) == "applied 1")
        #expect(try tree.send(Action.open("nuts")) == "applied 3")
        #expect(try tree.send(Action.close("nuts")) == "applied 4")
        #expect(try tree.state(of: Warehouse.self).notes == ["/: NOT_FOUND", "closed nuts"])
        #expect(tree.turn.complaints.isEmpty)
    }
}
