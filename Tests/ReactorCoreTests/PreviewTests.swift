import ReactorCore
import Testing

@Suite("Preview")
struct PreviewTests {
    @Test("F70: an action is tried on a copy of a state, and changes nothing else")
    func apply() throws {
        let tree = Tree(Tally(), epoch: 1)
        try tree.send(Tally.Action.add(5))
        let state = try tree.state(of: Tally.self)
        let preview = Preview(Tally())
        preview.rebase(on: state)
        try preview.apply(.spread([1, 2]))
        #expect(preview.state == Tally.State(sum: 8, history: [5, 1, 2]))
        #expect(try tree.state(of: Tally.self) == state)
    }

    @Test("F70: a rejected action leaves what is shown as it was")
    func rejects() throws {
        let preview = Preview(Tally())
        preview.rebase(on: Tally.State(sum: 3, history: [3]))
        #expect(throws: Rejection("refused", "the sum 3 stays")) { try preview.apply(.refuse) }
        #expect(preview.state == Tally.State(sum: 3, history: [3]))
    }

    @Test("F70: effects, replies and followers of a tried action are dropped")
    func drops() throws {
        let preview = Preview(Fetcher())
        try preview.apply(.fetch(["a"]))
        #expect(preview.state.pages == ["-"])
        let desk = Preview(Desk())
        try desk.apply(.hop(3))
        try desk.apply(.answerAll("yes"))
        #expect(desk.state.log == ["step 3"])
    }

    @Test(
        "F70: what needs the caller, the cause, a ticket or an ownership is not tried",
        arguments: [Desk.Action.whoAmI, .take("key"), .ask])
    func daemonOnly(_ action: Desk.Action) {
        let preview = Preview(Desk())
        let error = #expect(throws: Rejection.self) { try preview.apply(action) }
        #expect(error?.code == Rejection.previewCode)
        #expect(preview.state == Desk.State())
    }

    @Test("F70: a decision that reads a child is not tried, one that only mutates it is")
    func children() throws {
        let preview = Preview(Shop())
        let error = #expect(throws: Rejection.self) { try preview.apply(.visit(1)) }
        #expect(error?.code == Rejection.previewCode)
        #expect(preview.state.notes == [])
        try preview.apply(.open("a"))
        #expect(preview.state.notes == ["open a"])
    }
}
