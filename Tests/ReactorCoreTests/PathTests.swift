import ReactorCore
import Testing

@Suite("#path")
struct PathTests {
    @Test("F64: a key path in the source is the path of its node")
    func paths() throws {
        let tree = Tree(Town(), epoch: 1)
        let table = PathTable<Town>()
        #expect(#path(\Town.shop) == table.path(of: \.shop))
        #expect(#path(\Town.$shop) == table.path(of: \.$shop))
        #expect(#path(\Town.hall.meter) == table.path(of: \.hall.meter))
        #expect(#path(\Town.shop.$rooms) == table.path(of: \.shop.$rooms))
        #expect(#path(\Town.self) == .root)
        #expect(tree.node(at: #path(\Town.hall.$meter)) != nil)
        #expect(#path(\Town.shop.$rooms).appending("a").description == "/shop/rooms/a")
    }

    @Test("F64: a field of a state can be named by its key path too")
    func parts() throws {
        let tree = Tree(Town(), epoch: 1)
        try tree.send(Hall.Action.enter, to: "/hall")
        #expect(#path(\Town.hall, \.entries).description == "/hall/entries")
        #expect(try tree.json(#path(\Town.hall, \.entries).description) == "1")
    }
}
