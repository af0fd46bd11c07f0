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
        #expect(try tree.send(Cinema.Action.check(row: 4, seat: 7)) == "applied 5")
        #expect(try tree.state(of: Cinema.self) == .init(answer: "row 4, seat 7", taken: 1))
        #expect(try tree.send(Cinema.Action.check(row: 5, seat: 7)) == "rejected no_seat")
    }

    @Test("a reactor dispatches to its sibling and to the reactor above, wherever that is mounted")
    func nearest() throws {
        let tree = Tree(ReactorGroup([(name: "town", reactor: Cinema())]), epoch: 1)
        try tree.send(Cinema.Action.add(4), to: "/town")
        for seat in [7, 8] { try tree.send(Bench.Action.add(seat), to: "/town/rows/4") }
        try tree.send(Chair.Action.take, to: "/town/rows/4/seats/7")
        try tree.send(Chair.Action.swap(with: 8), to: "/town/rows/4/seats/7")
        #expect(try tree.state(of: Cinema.self, "/town").taken == 2)
        #expect(try tree.state(of: Chair.self, "/town/rows/4/seats/7").label == "")
        #expect(try tree.state(of: Chair.self, "/town/rows/4/seats/8").label == "row 4, seat 8")
        #expect(tree.turn.complaints.isEmpty)
        try tree.send(Chair.Action.swap(with: 9), to: "/town/rows/4/seats/8")
        #expect(tree.turn.complaints.count == 1)
        #expect(tree.turn.complaints.first?.contains("/town/rows/4/seats/9 is refused") ?? false)
    }

    @Test("without the reactor above, the follower is refused")
    func missing() throws {
        let tree = Tree(Chair(), epoch: 1)
        #expect(try tree.send(Chair.Action.take) == "applied 1")
        #expect(
            tree.turn.complaints == [
                "/: its follower to / is refused: NOT_FOUND: /: no Cinema is above it"
            ])
    }
}
