import ReactorCore
import Testing

@Suite("Mutations")
struct MutationsTests {
    @Test("F11: an array literal is a list of mutations, none is nothing")
    func literals() {
        let none: Mutations<Int> = .none
        let empty: Mutations<Int> = []
        let one: Mutations<Int> = [7]
        let three: Mutations<Int> = [7, 8, 9]
        #expect([none, empty, one, three].map(\.count) == [0, 0, 1, 3])
        #expect(Mutations(7).count == 1)
        #expect(Mutations(sync: [1, 2]).count == 2)
        #expect(Mutations<Int>(async: Effect { _ in }).count == 0)
    }

    @Test("F11: an action without mutations is applied, is a revision, and changes no node")
    func none() throws {
        let tree = Tree(Tally(), epoch: 1)
        #expect(try tree.send(Tally.Action.nothing) == "applied 1")
        #expect(try tree.send(Tally.Action.spread([])) == "applied 2")
        #expect(tree.root.sequence == 0)
        #expect(tree.deltas.isEmpty)
        #expect(try tree.state(of: Tally.self) == Tally.State())
    }

    @Test("adding to mutations leaves those added to as they were")
    func values() throws {
        let shop = Shop()
        let tree = Tree(shop, epoch: 1)
        let first = Mutations<Shop.Mutation>.none.creating(shop.$rooms, "a")
        _ = first.creating(shop.$rooms, "b")
        #expect(first.count == 0)
        #expect(try tree.send(Shop.Action.open("a")) == "applied 1")
        #expect(try tree.json("/rooms/b") == nil)
    }
}
