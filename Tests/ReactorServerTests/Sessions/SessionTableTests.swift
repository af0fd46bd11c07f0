import ReactorWire
import Testing

@testable import ReactorServer

/// Sessions by their secrets and public numbers.
struct SessionTableTests {
    @Test("a session is found by its secret for its uid, and by its public number")
    func find() {
        let table = SessionTable(sessionsMax: 2)
        let session = table.make(uid: 5, secret: [1], at: 0).0
        #expect(table.find([1], uid: 5) === session)
        #expect(table.find([1], uid: 6) == nil)
        #expect(table.find(client: session.client) === session)
        table.end(session, at: 0)
        #expect(table.find([1], uid: 5) == nil && table.find(client: session.client) == nil)
        #expect(table.count == 0)
    }

    @Test("public numbers are never used twice")
    func numbers() {
        let table = SessionTable(sessionsMax: 1)
        let first = table.make(uid: 0, secret: [1], at: 0).0
        table.leave(first, at: 1)
        #expect(table.make(uid: 0, secret: [2], at: 0).0.client == first.client + 1)
        #expect(table.count == 1)
    }

    /// Sessions whose clients left one after another, numbered from 1; every `used`-th has an
    /// action.
    private func left(_ count: Int, used: Int, _ table: SessionTable) -> [Session] {
        (1...count).map { number in
            let secret = [UInt8(number >> 8), UInt8(number & 0xff)]
            let session = table.make(uid: 0, secret: secret, at: 0).0
            if number % used == 0 { session.advance(to: 1) }
            table.leave(session, at: UInt64(number))
            return session
        }
    }

    @Test(
        "blank sessions make room first, then those disconnected longest, but no connected one")
    func eviction() {
        let table = SessionTable(sessionsMax: 6)
        let sessions = left(6, used: 2, table)
        table.join(sessions[0], ConnectionID(1))
        func remaining() -> [UInt64] {
            sessions.map(\.client).filter { table.find(client: $0) != nil }
        }
        for (secret, expected) in [
            ([1, 1, 1], [1, 2, 4, 5, 6]), ([1, 1, 2], [1, 2, 4, 6]), ([1, 1, 3], [1, 4, 6]),
            ([1, 1, 4], [1, 6]), ([1, 1, 5], [1]), ([1, 1, 6], [1]),
        ] as [([UInt8], [UInt64])] {
            let session = table.make(uid: 0, secret: secret, at: 0).0
            table.join(session, ConnectionID(9))
            #expect(remaining() == expected)
        }
        // A session with a connection is not evicted.
        #expect(table.count == 7)
    }

    // [WIRE-4-9]
    @Test("blank sessions are forgotten after a time, in the order of their disconnects")
    func forgetBlank() {
        let table = SessionTable(sessionsMax: 100)
        let sessions = left(10, used: 3, table)
        table.forgetBlank(before: 6)
        #expect(
            sessions.map(\.client).filter { table.find(client: $0) != nil }
                == [3, 6, 7, 8, 9, 10])
        table.end(sessions[6], at: 0)
        table.forgetBlank(before: 100)
        #expect(table.count == 3)
    }

    @Test("a resumed session is not evicted, and its age counts from the next disconnect")
    func rejoin() {
        let table = SessionTable(sessionsMax: 2)
        let sessions = left(2, used: 1, table)
        table.join(sessions[0], ConnectionID(1))
        table.leave(sessions[0], at: 5)
        _ = table.make(uid: 0, secret: [9], at: 0)
        #expect(table.find(client: sessions[0].client) === sessions[0])
        #expect(table.find(client: sessions[1].client) == nil)
    }

    @Test("X117: a uid at its limit of sessions evicts its own, and no other uid's")
    func perUID() {
        let table = SessionTable(sessionsMax: 100, perUIDMax: 3)
        let other = table.make(uid: 9, secret: [9], at: 0).0
        other.advance(to: 1)
        table.leave(other, at: 0)
        let sessions = left(4, used: 1, table)
        let gone = sessions.filter { table.find(client: $0.client) == nil }
        #expect(gone.map(\.client) == [sessions[0].client] && table.count == 4)
        #expect(table.find(client: other.client) === other)
    }

    @Test("X117: the outcomes of disconnected sessions share a limit, and the largest is evicted")
    func weighed() {
        let table = SessionTable(sessionsMax: 100)
        let sessions = left(4, used: 1, table)
        var evicted: [UInt64] = []
        for (session, byteCount) in zip(sessions, [400, 1_000, 300, 900]) {
            let text = String(repeating: "x", count: byteCount)
            session.remember(.failed(message: text), of: 1, ServerLimits().outcomes)
            evicted += table.weigh(session, bytesMax: 2_000, at: 7).map(\.client)
        }
        // The journal contains none of them, so it need not record their end.
        #expect(evicted.isEmpty && table.find(client: sessions[1].client) == nil)
        #expect(table.count == 3 && table.leftBytes == 400 + 300 + 900 + 3 * 64)
        table.join(sessions[3], ConnectionID(1))
        #expect(table.leftBytes == 400 + 300 + 2 * 64)
        #expect(table.ended.mayHold(sessions[1].secret, since: 9))
    }

    @Test(
        "sessions of a former run make room in the order of their disconnects, several at once")
    func formerOrder() {
        let table = SessionTable(sessionsMax: 10)
        for client in 1...9 as ClosedRange<UInt64> {
            table.restore(client: client, secret: [UInt8(client)], uid: 0)
        }
        if let first = table.find(client: 1) { table.touch(first) }
        #expect(table.stored.map(\.client) == [2, 3, 4, 5, 6, 7, 8, 9, 1])
        let smaller = SessionTable(sessionsMax: 4)
        for session in table.stored { smaller.restore(session.saved, ServerLimits()) }
        #expect(
            smaller.make(uid: 0, secret: [99], at: 1).evicted.map(\.client) == [2, 3, 4, 5, 6, 7])
        #expect(smaller.count == 4 && smaller.find(client: 1) != nil)
    }

    @Test(
        "C87: a repeated record of a session, or of its end, leaves a later one unchanged")
    func laterOne() {
        let table = SessionTable(sessionsMax: 10)
        table.restore(client: 2, secret: [1], uid: 0)
        table.restore(client: 1, secret: [1], uid: 0)
        #expect(table.find([1], uid: 0)?.client == 2)
        if let former = table.find(client: 1) { table.end(former, at: 3) }
        #expect(table.find([1], uid: 0)?.client == 2 && table.count == 1)
    }

    @Test("C87: a session that ends with actions is remembered, and one without any is not")
    func ends() {
        let table = SessionTable(sessionsMax: 10)
        let blank = table.make(uid: 0, secret: [1], at: 0).0
        let used = table.make(uid: 0, secret: [2], at: 0).0
        used.advance(to: 1)
        table.end(blank, at: 5)
        table.end(used, at: 5)
        #expect(!table.ended.mayHold([1], since: 0) && table.ended.mayHold([2], since: 9))
    }
}
