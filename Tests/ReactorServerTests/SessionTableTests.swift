import Testing

@testable import ReactorServer

/// Sessions by their secrets and public numbers.
struct SessionTableTests {
    @Test("a session is found by its secret for its uid, and by its public number")
    func find() {
        var table = SessionTable(sessionsMax: 2)
        let session = table.make(uid: 5, secret: [1])
        #expect(table.find([1], uid: 5) === session)
        #expect(table.find([1], uid: 6) == nil)
        #expect(table.find(client: session.client) === session)
        table.remove(session)
        #expect(table.find([1], uid: 5) == nil && table.find(client: session.client) == nil)
        #expect(table.count == 0)
    }

    @Test("public numbers are never used twice")
    func numbers() {
        var table = SessionTable(sessionsMax: 1)
        let first = table.make(uid: 0, secret: [1]).client
        #expect(table.make(uid: 0, secret: [2]).client == first + 1)
        #expect(table.count == 1)
    }
}
