import ReactorCore
import Testing

@testable import ReactorClient

struct DispatchErrorTests {
    private let revision = Revision(epoch: 7, sequence: 3)
    private typealias Number = DispatchOutcome<Int>

    @Test("an applied action gives its revision, and its reply if there is one")
    func applied() throws {
        let applied = try Number.applied(revision, reply: 5).get()
        #expect(applied.revision == revision && applied.reply == 5)
        let ended = try Number.ownerEnded(revision, reply: 6).get()
        #expect(ended.revision == revision && ended.reply == 6)
        let accepted = try Number.accepted(revision).get()
        #expect(accepted.revision == revision && accepted.reply == nil)
    }

    @Test("an action that was not applied throws the reason")
    func thrown() {
        let rejection = Rejection("held", "by 7")
        for (outcome, error, text) in [
            (Number.rejected(rejection), DispatchError.rejected(rejection), "held: by 7"),
            (.failed(message: "never sent"), .failed(message: "never sent"), "never sent"),
            (.unknown(.ended), .unknown(.ended), "the action may have been applied or not"),
        ] {
            #expect(throws: error) { try outcome.get() }
            #expect("\(error)".hasPrefix(text))
        }
    }
}
