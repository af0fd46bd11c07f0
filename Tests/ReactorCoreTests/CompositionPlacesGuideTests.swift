import ReactorCore
import Testing

@Suite("guide: reading descendants")
struct CompositionPlacesGuideTests {
    @Test("a reactor far below knows its keys, and the cinema reads its state")
    func places() throws {
        let tree = Tree(Cinema(), epoch: 1)
        try tree.send(Cinema.Action.add(4))
        try tree.send(Bench.Action.add(7), to: "/rows/4")
        try tree.send(Chair.Action.take, to: "/rows/4/seats/7")
        #expect(try tree.send(Cinema.Action.check(row: 4, seat: 7)) == "applied 4")
        #expect(try tree.state(of: Cinema.self).answer == "row 4, seat 7")
        #expect(try tree.send(Cinema.Action.check(row: 5, seat: 7)) == "rejected no_seat")
    }
}
