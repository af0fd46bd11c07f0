import ReactorCore
import Testing

@Suite("guide: keys of children")
struct CompositionKeysGuideTests {
    private typealias Action = Hotel.Action

    @Test("keys have the author's type in decisions, reactions, paths and lists")
    func keys() throws {
        let tree = Tree(Hotel(), epoch: 1)
        for level in [Level.ground, .first] { try tree.send(Action.build(level)) }
        for room in [100, 9, 12] { try tree.send(Action.open(room: room)) }
        try tree.send(Bin.Action.add(3), to: "/rooms/9")
        try tree.send(Bin.Action.add(4), to: "\(#path(\Hotel.$rooms).appending(100))")
        #expect(try tree.state(of: Bin.self, "/levels/0").count == 3)
        #expect(try tree.state(of: Bin.self, "/levels/1").count == 4)
        try tree.send(Action.list)
        #expect(try tree.state(of: Hotel.self).listed == [9, 12, 100])
        let path = ReactorPath(Hotel.self).child(\.$rooms, 7).path
        #expect(path.description == "/rooms/7")
    }
}
