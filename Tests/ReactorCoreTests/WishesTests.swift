import Testing

@testable import ReactorCore

@Suite("Wishes")
struct WishesTests {
    @Test("each request makes the wishes non-empty, and clearing drops it")
    func requests() {
        let node = Node(Tally(), number: 7, path: .root, parent: nil)
        let requests: [(String, (inout Wishes) -> Void)] = [
            ("reply", { $0.reply(with: WireEmbedded(1)) }),
            ("deferral", { $0.deferReply() }),
            ("acceptance", { $0.accept() }),
            ("follower", { $0.follow(.root, WireEmbedded(1)) }),
            (
                "ownership",
                { $0.change(OwnershipFact.disown(node: 7, key: "a", connection: 1)) }
            ),
            ("task", { $0.change(TaskFact.done(node: 7, name: "a")) }),
            (
                "cancellation",
                { $0.cancel(EffectCancellation(node: 7, selection: .all, last: 1)) }
            ),
            ("effect", { $0.cancel(EffectID(node: 7, number: 1)) }),
            ("removal", { $0.leave(node) }),
        ]
        for (name, request) in requests {
            var wishes = Wishes()
            #expect(wishes.isEmpty && wishes.invariants(), "\(name)")
            request(&wishes)
            #expect(!wishes.isEmpty && wishes.invariants(), "\(name)")
            wishes.clear()
            #expect(wishes.isEmpty && wishes.invariants(), "\(name)")
        }
    }
}
