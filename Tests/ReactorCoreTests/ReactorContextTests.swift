import ReactorCore
import Testing

@Suite("ReactorContext")
struct ReactorContextTests {
    @Test("a decision has access to its caller, its cause, its path and the next revision")
    func knows() throws {
        let tree = Tree(ReactorGroup([("desk", Desk())]), epoch: 1)
        try tree.send(Desk.Action.hop(0), to: "/desk")
        #expect(
            try tree.send(Desk.Action.whoAmI, to: "/desk", from: 2, ordinal: 5)
                == #"replied 2 {"text":"uid 1000 pid 5002 action 5 of client 102 at 2 in /desk"}"#)
    }

    @Test("a reply belongs to the action that requested it, not to a later one")
    func replies() throws {
        let tree = Tree(Desk(), epoch: 1)
        #expect(try tree.send(Desk.Action.whoAmI).hasPrefix("replied 1"))
        #expect(try tree.send(Desk.Action.hop(0)) == "applied 2")
    }

    @Test("a deferred reply is sent later through the ticket, at the revision that sent it")
    func deferred() throws {
        let tree = Tree(Desk(), epoch: 1)
        #expect(try tree.send(Desk.Action.ask, from: 1, ordinal: 8) == "deferred 1")
        #expect(try tree.send(Desk.Action.ask, from: 2, ordinal: 3) == "deferred 2")
        #expect(tree.turn.takeResolutions().isEmpty)
        #expect(try tree.send(Desk.Action.answerAll("yes"), from: 3) == "applied 3")
        #expect(
            try tree.turn.takeResolutions().map { try $0.text }
                == [#"101/8 at 3: {"text":"yes"}"#, #"102/3 at 3: {"text":"yes"}"#])
        #expect(tree.turn.takeResolutions().isEmpty)
    }

    @Test("a deferred reply may be a rejection")
    func refuses() throws {
        let tree = Tree(Desk(), epoch: 1)
        try tree.send(Desk.Action.ask, from: 1, ordinal: 8)
        try tree.send(Desk.Action.refuseAll, from: 3)
        #expect(try tree.turn.takeResolutions().map { try $0.text } == ["101/8: no not today"])
    }

    @Test("a parent reads its children and the keys of its collections in order")
    func children() throws {
        let tree = Tree(Shop(), epoch: 1)
        for name in ["b", "ccc", "a"] { try tree.send(Shop.Action.open(name)) }
        let bytes = Shop.Action.furnish("z", 1).wireBytes()
        let result = tree.dispatch(to: tree.root, bytes.span, by: .daemon, ordinal: 1)
        guard case .failed(.rejected(let rejection)) = result else {
            Issue.record("expected a rejection, got \(result)")
            return
        }
        #expect(rejection.message == "no room z among [a, b, ccc]")
    }
}
