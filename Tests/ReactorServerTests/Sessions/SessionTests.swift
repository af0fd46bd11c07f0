import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// Refuses all that wait when one of their connections ends.
@Reactor
private struct Waiters {
    enum Action { case wait }
    enum Mutation {
        case waits(ReplyTicket)
        case emptied
    }
    struct State { var tickets: [ReplyTicket] = [] }

    func mutate(
        action: Action, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        context.own("wait")
        return [.waits(context.deferReply())]
    }

    func connectionEnded(
        _ owned: OwnedKeys, state: State, context: ReactorContext<Self>
    ) -> Mutations<Mutation> {
        for ticket in state.tickets { context.refuse(ticket, Rejection("gone", "it is over")) }
        return [.emptied]
    }

    func reduce(state: inout State, mutation: Mutation) {
        switch mutation {
        case .waits(let ticket): state.tickets.append(ticket)
        case .emptied: state.tickets = []
        }
    }
}

/// Clients that reconnect, and the outcomes that the server keeps for them.
struct SessionTests {
    private let harness = ServerHarness()

    private func start(
        _ harness: ServerHarness? = nil, session: [UInt8]? = nil, confirmed: UInt64 = 0
    ) throws -> (TestClient, Welcome) {
        let harness = harness ?? self.harness
        let client = harness.client(session: session, confirmed: confirmed)
        let welcome = try #require(client.frames(.welcome).first).decode(Welcome.self)
        client.open("/visits")
        harness.turn()
        _ = client.frames()
        return (client, welcome)
    }

    // [WIRE-4-5] [WIRE-7-3] [WIRE-10-2]
    @Test("a session continues after a disconnect, and resent actions get their first outcome")
    func resume() throws {
        let (first, welcome) = try start()
        first.add(1)
        first.dispatch(Tally.Action.refuse(text: "no"))
        first.dispatch(Tally.Action.ask)
        first.socket.room = 0
        harness.turn()
        first.disconnect()
        let (second, again) = try start(session: welcome.session)
        #expect(again.isResumed && again.client == welcome.client && again.ordinal == 3)
        for ordinal in 1...3 as ClosedRange<UInt64> {
            second.dispatch(Tally.Action.add(by: 1), ordinal: ordinal)
        }
        second.dispatch(Tally.Action.add(by: 1), ordinal: 4)
        harness.turn()
        let log = try OutcomeLog(second.frames())
        // The connection that sent the actions ended, so the daemon released what it owned.
        #expect(log[1] == .applied(sequence: 1, reply: nil, ownerEnded: true))
        #expect(log[2]?.code == "refused")
        #expect(log[3] == .applied(sequence: 2, reply: WireEmbedded(1), ownerEnded: true))
        #expect(log[4] == .applied(sequence: 3, reply: nil, ownerEnded: false))
        #expect(try harness.tally("/visits").count == 2)
    }

    @Test("an action that waited for its answer is answered when its connection ends")
    func deferredEnds() throws {
        let (first, welcome) = try start()
        first.dispatch(Tally.Action.wait)
        harness.turn()
        first.disconnect()
        let (second, _) = try start(session: welcome.session)
        second.dispatch(Tally.Action.wait, ordinal: 1)
        second.dispatch(Tally.Action.grant(value: 1), ordinal: 2)
        harness.turn()
        let log = try OutcomeLog(second.frames())
        #expect(log.outcomes[1]?.map(\.code) == ["OWNER_ENDED"])
    }

    @Test("the end of a connection ends its waits as OWNER_ENDED, whatever the reactor answers")
    func refusedByOwner() throws {
        let harness = ServerHarness(Tree(Waiters(), epoch: 7))
        let (first, second) = (harness.client(), harness.client())
        let session = try #require(first.frames(.welcome).first).decode(Welcome.self).session
        for client in [first, second] {
            client.open("/", as: 0)
            client.dispatch(Waiters.Action.wait)
        }
        harness.turn()
        _ = (first.frames(), second.frames())
        first.disconnect()
        harness.turn()
        // The same decision may answer the waits of other connections.
        #expect(try OutcomeLog(second.frames())[1]?.code == "gone")
        let again = harness.client(session: session)
        again.dispatch(Waiters.Action.wait, ordinal: 1)
        harness.turn()
        #expect(try OutcomeLog(again.frames()).outcomes[1]?.map(\.code) == ["OWNER_ENDED"])
    }

    @Test("an answer given in the turn in which its connection ended is valid")
    func answeredAndEnded() throws {
        let (first, welcome) = try start()
        let (second, _) = try start()
        first.dispatch(Tally.Action.wait)
        harness.turn()
        second.dispatch(Tally.Action.grant(value: 9))
        first.disconnect()
        harness.turn()
        let (again, _) = try start(session: welcome.session)
        again.dispatch(Tally.Action.wait, ordinal: 1)
        harness.turn()
        guard case .applied(_, let reply, let ownerEnded) = try OutcomeLog(again.frames())[1] else {
            Issue.record("the answer was lost")
            return
        }
        #expect(reply == WireEmbedded(9) && ownerEnded)
    }

    // [WIRE-10-1]
    @Test("ids belong to the connection: a batch is sent again under the present ids")
    func idsAfterReconnect() throws {
        let (first, welcome) = try start()
        first.disconnect()
        let second = harness.client(session: welcome.session)
        second.batch([(0, Tally.Action.add(by: 1))])
        second.open("/visits", as: 5)
        second.batch([(5, Tally.Action.add(by: 2))])
        harness.turn()
        let log = try OutcomeLog(second.frames())
        #expect(log[1]?.code == "NOT_FOUND" && log[2]?.isApplied == true)
        #expect(try harness.tally("/visits").count == 2)
    }

    // [WIRE-4-3]
    @Test("a welcome contains the connection's number, which differs after a reconnect")
    func connectionNumber() throws {
        let (first, welcome) = try start()
        #expect(welcome.connection == first.id.rawValue)
        first.add(1)
        harness.turn()
        first.disconnect()
        let (second, again) = try start(session: welcome.session)
        #expect(again.client == welcome.client)
        #expect(again.connection == second.id.rawValue && again.connection != welcome.connection)
    }

    @Test("the end of a connection releases what it owned, in a transaction of its own")
    func ownership() throws {
        let (first, _) = try start()
        let (second, _) = try start()
        first.dispatch(Tally.Action.hold)
        second.dispatch(Tally.Action.hold)
        harness.turn()
        #expect(try harness.tally("/visits").holders == 2)
        first.disconnect()
        #expect(harness.server.needsTurn)
        harness.turn()
        #expect(try harness.tally("/visits").holders == 1)
        #expect(harness.batches.last?.sequence == 3)
    }

    // [WIRE-4-6]
    @Test("a session in use is SESSION_BUSY for a second connection, and keeps the first")
    func busy() throws {
        let (first, welcome) = try start()
        let second = harness.client(session: welcome.session)
        #expect(try second.frames(.closing)[0].decode(Closing.self).code == .sessionBusy)
        #expect(second.socket.isClosed)
        first.add(1)
        harness.turn()
        #expect(try OutcomeLog(first.frames())[1]?.isApplied == true)
    }

    // [WIRE-4-5]
    @Test("X114: a secret of another uid and a wrong one are both simply not found")
    func foreign() throws {
        let (first, welcome) = try start()
        first.add(1)
        harness.turn()
        first.disconnect()
        var answers: [[UInt8]] = []
        let wrong = [UInt8](repeating: 9, count: 16)
        for (uid, secret) in [(2_000, welcome.session), (1_000, wrong)] {
            let thief = harness.client(uid: UInt32(uid), session: secret)
            let got = try #require(thief.frames(.welcome).first).decode(Welcome.self)
            #expect(!got.isResumed && got.session != welcome.session && got.ordinal == 0)
            answers.append(got.session)
            thief.disconnect()
        }
        #expect(try start(session: welcome.session).1.isResumed)
    }

    @Test("only disconnected sessions are evicted, the longest disconnected first")
    func eviction() throws {
        let harness = ServerHarness { $0.sessionsMax = 3 }
        var welcomes: [Welcome] = []
        var clients: [TestClient] = []
        for _ in 0..<3 {
            let (client, welcome) = try start(harness)
            client.add(1)
            clients.append(client)
            welcomes.append(welcome)
        }
        harness.turn()
        harness.now = 10_000_000_000
        clients[1].disconnect()
        harness.now = 20_000_000_000
        clients[0].disconnect()
        harness.turn()
        _ = try start(harness)
        #expect(harness.server.sessions.count == 3)
        #expect(try !start(harness, session: welcomes[1].session).1.isResumed)
        #expect(harness.server.sessions.find(welcomes[2].session, uid: 1_000) != nil)
    }

    // [WIRE-4-9] [WIRE-4-10]
    @Test("a goodbye forgets the session; one that did nothing is kept for its client")
    func goodbye() throws {
        let (first, welcome) = try start()
        first.add(1)
        first.send(.goodbye)
        first.add(1)
        harness.turn()
        #expect(first.socket.isClosed)
        #expect(try OutcomeLog(first.frames()).outcomes.count == 1)
        #expect(try harness.tally("/visits").count == 1)
        #expect(try !start(session: welcome.session).1.isResumed)
        let (blank, _) = try start()
        let count = harness.server.sessions.count
        blank.disconnect()
        #expect(harness.server.sessions.count == count)
    }

    // [WIRE-7-14]
    @Test("confirmed outcomes are forgotten, and asking for them again is ORDINAL")
    func confirm() throws {
        let (client, welcome) = try start()
        for _ in 0..<4 {
            client.add(1)
            client.dispatch(Tally.Action.refuse(text: ""))
        }
        client.send(.confirm, number: 6)
        harness.turn()
        _ = client.frames()
        let session = harness.server.sessions.find(welcome.session, uid: 1_000)
        #expect(session?.outcomeCount == 2)
        for ordinal in [2, 6, 7, 8] as [UInt64] {
            client.dispatch(Tally.Action.add(by: 1), ordinal: ordinal)
        }
        harness.turn()
        let log = try OutcomeLog(client.frames())
        #expect(log[2]?.code == "ORDINAL" && log[6]?.code == "ORDINAL")
        #expect(log[7]?.isApplied == true && log[8]?.code == "refused")
        client.disconnect()
        _ = try start(session: welcome.session, confirmed: .max)
        #expect(session?.outcomeCount == 0)
    }

    @Test("the newest outcome is kept, however large, until its client has it")
    func largest() {
        let session = Session(secret: [1], uid: 0, client: 1)
        let limits = ServerLimits()
        let reply = WireEmbedded([UInt8](repeating: 7, count: limits.outcomeBytesPerSessionMax))
        session.remember(.failed(message: "before"), of: 1, limits.outcomes)
        let answered = Outcome.applied(sequence: 1, reply: reply, ownerEnded: false)
        session.remember(answered, of: 2, limits.outcomes)
        #expect(session.outcome(of: 1) == nil)
        #expect(session.outcome(of: 2) == .applied(sequence: 1, reply: reply, ownerEnded: false))
        session.remember(.failed(message: "behind"), of: 3, limits.outcomes)
        #expect(session.outcome(of: 2) == nil && session.outcome(of: 3) != nil)
    }

    @Test("outcomes that no client confirms are limited, and the oldest is forgotten first")
    func bounded() throws {
        let harness = ServerHarness {
            $0.outcomesPerSessionMax = 50
            $0.outcomeBytesPerSessionMax = 10_000
        }
        let (client, welcome) = try start(harness)
        let session = try #require(harness.server.sessions.find(welcome.session, uid: 1_000))
        for ordinal in 1...400 as ClosedRange<UInt64> {
            client.dispatch(Tally.Action.add(by: 1), ordinal: ordinal * 2)
        }
        harness.turn()
        #expect(session.outcomeCount == 50)
        #expect(session.outcome(of: 800)?.isApplied == true)
        #expect(session.outcome(of: 2) == nil)
        let text = String(repeating: "é", count: 2_000)
        for ordinal in 801...900 as ClosedRange<UInt64> {
            client.dispatch(Tally.Action.refuse(text: text), ordinal: ordinal)
        }
        harness.turn()
        #expect(session.outcomeCount <= 10)
        #expect(session.outcome(of: 900)?.code == "refused")
        client.dispatch(Tally.Action.add(by: 1), ordinal: 2)
        harness.turn()
        #expect(try harness.tally("/visits").count == 400)
    }

    @Test("a session finds any of its outcomes, in any mixture of runs and exceptions")
    func lookup() {
        var limits = ServerLimits()
        limits.outcomesPerSessionMax = 10_000
        let session = Session(secret: [], uid: 0, client: 1)
        var expected: [UInt64: Outcome] = [:]
        var sequence: UInt64 = 0
        var generator = SystemRandomNumberGenerator()
        var late: [UInt64] = []
        for ordinal in 1...500 as ClosedRange<UInt64> {
            switch UInt8.random(in: 0..<10, using: &generator) {
            case 0..<6:
                sequence += 1
                session.remember(
                    AppliedRun(ordinal: ordinal, sequence: sequence, count: 1), limits.outcomes)
                expected[ordinal] = .applied(sequence: sequence)
            case 6, 7:
                session.remember(.failed(message: "\(ordinal)"), of: ordinal, limits.outcomes)
                expected[ordinal] = .failed(message: "\(ordinal)")
            case 8: late.append(ordinal)
            default: sequence += 1
            }
        }
        for ordinal in late.shuffled() {
            session.remember(.failed(message: "late"), of: ordinal, limits.outcomes)
            expected[ordinal] = .failed(message: "late")
        }
        for ordinal in 0...501 as ClosedRange<UInt64> {
            #expect(session.outcome(of: ordinal) == expected[ordinal])
        }
        session.confirm(250)
        for ordinal in 0...501 as ClosedRange<UInt64> where ordinal > 250 {
            #expect(session.outcome(of: ordinal) == expected[ordinal])
        }
        session.confirm(.max)
        #expect(session.outcomeCount == 0)
    }
}
