import Testing

@testable import ReactorCore

@Suite("Wishes")
struct WishesTests {
    @Test("each request makes the wishes non-empty, and clearing drops it")
    func requests() {
        let node = Node(Tally(), number: 7, path: .root, parent: nil)
        let outcome = Outcome.rejected(code: "NO", message: "")
        let requests: [Wishes.Request] = [
            .reply(WireEmbedded(1)), .deferredReply, .acceptance,
            .answer(Resolution(ticket: ReplyTicket(client: 1, ordinal: 1), outcome: outcome)),
            .follower(FollowerRequest(path: .root, action: WireEmbedded(1))),
            .ownership(.disown(node: 7, key: "a", connection: 1)),
            .task(.done(node: 7, name: "a")),
            .cancellation(EffectCancellation(node: 7, selection: .all, last: 1)),
            .end(EffectID(node: 7, number: 1)), .removal(node),
        ]
        for request in requests {
            var wishes = Wishes()
            #expect(wishes.isEmpty && wishes.invariants(), "\(request)")
            wishes.request(request)
            #expect(!wishes.isEmpty && wishes.invariants(), "\(request)")
            wishes.clear()
            #expect(wishes.isEmpty && wishes.invariants(), "\(request)")
        }
    }
}
