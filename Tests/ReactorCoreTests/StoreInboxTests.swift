import Testing

@testable import ReactorCore

@Suite("StoreInbox")
struct StoreInboxTests {
    @Test("jobs are taken once, in the order in which they were posted")
    func order() {
        let inbox = StoreInbox(wake: {})
        let tree = Tree(Tally(), epoch: 1)
        for number in 1...3 { inbox.post { $0.turn.complain("\(number)") } }
        for job in inbox.take() { job(tree) }
        #expect(tree.turn.complaints == ["1", "2", "3"])
        #expect(inbox.take().isEmpty)
    }
}
