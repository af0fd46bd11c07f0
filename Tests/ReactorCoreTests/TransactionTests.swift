import Testing

@testable import ReactorCore

@Suite("Transaction")
struct TransactionTests {
    @Test("the sequence is the next one until the transaction is applied")
    func sequence() {
        var transaction = Transaction(after: 41)
        #expect(transaction.sequence == 42 && transaction.lastSequence == 41)
        let applied = transaction.assignSequence()
        #expect(applied == 42 && transaction.sequence == 43)
        transaction.continueHistory(after: 9)
        #expect(transaction.sequence == 10)
    }

    @Test("a new ordinal keeps the caller and its client")
    func cause() {
        var transaction = Transaction(after: 0)
        transaction.begin(by: .connection(3), ordinal: 5)
        transaction.begin(ordinal: 6)
        #expect(transaction.caller.connection == 3)
        #expect(transaction.origin == Origin(client: 103, ordinal: 6))
        transaction.begin(by: .daemon, .daemon)
        #expect(transaction.caller === Caller.daemon && transaction.origin == .daemon)
    }

    @Test("an answer carries the sequence of the transaction that gives it")
    func answers() throws {
        var transaction = Transaction(after: 1)
        let ticket = ReplyTicket(client: 2, ordinal: 3)
        transaction.answer(ticket, reply: WireEmbedded(true))
        transaction.refuse(ticket, Rejection("no", "not now"))
        let texts = try transaction.wishes.answers.map { try $0.text }
        #expect(texts == ["2/3 at 2: true", "2/3: no not now"])
    }

    @Test("a name for cancellation is one of the caller's own client")
    func invariants() {
        var transaction = Transaction(after: 0)
        #expect(transaction.invariants())
        transaction.begin(by: .connection(3), ordinal: 5)
        transaction.name(CancelScope(client: 103, name: "load"))
        #expect(transaction.invariants() && transaction.cancelScope?.name == "load")
        transaction.name(nil)
        transaction.begin(by: .daemon, .daemon)
        transaction.continueHistory(after: 8)
        let applied = transaction.assignSequence()
        #expect(transaction.invariants() && applied == 9)
    }
}
