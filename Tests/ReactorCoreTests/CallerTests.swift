import ReactorCore
import Testing

@Suite("Caller")
struct CallerTests {
    @Test("the daemon itself owns nothing, because it does not end")
    func daemon() throws {
        let tree = Tree(Desk(), epoch: 1)
        let bytes = Desk.Action.take("a").wireBytes()
        let result = tree.dispatch(to: tree.root, bytes.span, by: .daemon, ordinal: 1)
        #expect(try result.text == "applied 1")
        tree.endConnection(Caller.daemon.connection)
        #expect(tree.revision.sequence == 1)
    }

    @Test("owned keys are read as their type, and others are left out")
    func typedKeys() {
        let owned = OwnedKeys(connection: 3, keys: ["7", "claim", "2"])
        #expect(owned.keys(as: Int.self) == [7, 2])
        #expect(owned.keys(as: String.self) == ["7", "claim", "2"])
    }

    @Test("a ticket can be part of a state, and survives a round trip")
    func ticket() throws {
        let ticket = ReplyTicket(client: .max, ordinal: 3)
        #expect(try ReplyTicket(wireBytes: ticket.wireBytes()) == ticket)
    }
}
