import ReactorBytes
import ReactorCore
import ReactorWire
import Testing

@testable import ReactorServer

/// A leading server, and a following server that passes the actions of its client on.
private final class Passage {
    let pair: ServerPair
    var leader: ServerHarness { pair.leader }
    var follower: ServerHarness { pair.follower }
    /// A client of the follower with `/visits` and `/other` open as 0 and 1.
    let client: TestClient
    private var replyCount = 0

    /// Opens a link in term 1, unless `isLinked` is false.
    init(isLinked: Bool = true) throws {
        pair = try ServerPair()
        pair.follower.server.beginForwarding()
        client = Self.connect(pair.follower)
        if isLinked { pair.follower.server.openLink(to: 1, at: pair.follower.now) }
        pass()
    }

    static func connect(_ harness: ServerHarness, session: [UInt8]? = nil) -> TestClient {
        let client = harness.client(session: session)
        for (id, path) in ["/visits", "/other"].enumerated() { client.open(path, as: UInt32(id)) }
        harness.settle()
        _ = client.frames()
        return client
    }

    /// Ends the follower's turn, and takes what it passes on.
    func take() -> [ForwardRequest] {
        follower.settle()
        follower.turn()
        return follower.takeRequests()
    }

    func deliver(_ requests: [ForwardRequest]) {
        for request in requests { leader.server.receive(request, from: 2, at: leader.now) }
        leader.turn()
        leader.settle()
    }

    /// Passes everything in both directions, except rows.
    func pass() {
        deliver(take())
        for reply in leader.replies.dropFirst(replyCount) {
            follower.server.receive(reply, at: follower.now)
        }
        replyCount = leader.replies.count
        follower.settle()
    }

    /// Passes everything in both directions.
    func step() throws {
        pass()
        try pair.step()
    }

    var count: Int { get throws { try leader.tally("/visits").count } }
}

/// Actions at a following server. Drives ``Forwarder`` and ``RemoteClients``.
struct ForwardingTests {
    @Test(
        "an action at a follower is applied by the leader, and its outcome comes behind its changes"
    )
    func order() throws {
        let passage = try Passage()
        passage.client.subscribe("/visits")
        try passage.step()
        _ = passage.client.frames()
        passage.client.add(7)
        passage.client.add(1)
        passage.client.batch([
            (id: 0, action: Tally.Action.add(by: 10)), (id: 1, action: Tally.Action.add(by: 1)),
        ])
        passage.client.dispatch(Tally.Action.ask)
        passage.client.dispatch(Tally.Action.refuse(text: "no"))
        try passage.step()
        #expect(try passage.count == 18 && passage.leader.tally("/other").count == 1)
        let frames = passage.client.frames()
        let kinds = frames.map(\.kind)
        let mark = try #require(kinds.firstIndex(of: .mark))
        #expect(kinds[..<mark].allSatisfy { $0 == .delta })
        #expect(kinds[(mark + 1)...].allSatisfy { [.applied, .outcome].contains($0) })
        let log = try OutcomeLog(frames)
        #expect((1...4).allSatisfy { log[$0]?.isApplied == true } && log[5]?.code == "refused")
        #expect(passage.follower.server.owedCount == 0)
        #expect(passage.follower.server.statistics.forwarded == 5)
        // Other clients see the client's own number and connection.
        #expect(passage.leader.server.sessions.all.last?.client == 2 << 45 + 1)
    }

    @Test("without a link, actions wait; each further link gets them, and each is applied once")
    func links() throws {
        let passage = try Passage(isLinked: false)
        passage.client.add(1)
        #expect(passage.take() == [] && passage.follower.server.owedCount == 1)
        passage.follower.server.openLink(to: 1, at: passage.follower.now)
        let first = passage.take()
        passage.deliver(first)
        passage.client.add(10)
        // The rows and the replies of the first link do not arrive.
        _ = passage.take()
        passage.follower.server.closeLink(at: passage.follower.now)
        passage.client.add(100)
        #expect(passage.take() == [])
        passage.follower.server.openLink(to: 1, at: passage.follower.now)
        try passage.step()
        #expect(try passage.count == 111)
        let log = try OutcomeLog(passage.client.frames())
        #expect((1...3).allSatisfy { log.outcomes[$0]?.count == 1 })
    }

    @Test("a node that begins to lead carries out the actions that it would have passed on")
    func promotion() throws {
        let passage = try Passage(isLinked: false)
        passage.client.add(1)
        passage.client.dispatch(Tally.Action.ask)
        _ = passage.take()
        let server = passage.follower.server
        try server.lead(in: 2, at: passage.follower.now)
        server.carryOutOwed(at: passage.follower.now)
        passage.client.add(10)
        passage.follower.settle()
        #expect(try passage.follower.tally("/visits").count == 11)
        let log = try OutcomeLog(passage.client.frames())
        #expect((1...3).allSatisfy { log[$0]?.isApplied == true } && server.owedCount == 0)
    }

    @Test("what a client owns through a follower ends with its connection, or with its node")
    func owners() throws {
        for end in 0..<4 {
            let passage = try Passage()
            passage.client.dispatch(Tally.Action.hold)
            try passage.step()
            #expect(try passage.leader.tally("/visits").holders == 1)
            switch end {
            case 0: passage.follower.disconnect(passage.client.id)
            case 1: passage.client.send(.goodbye)
            case 2: passage.leader.server.lose(2, at: passage.leader.now)
            // The daemon was started again.
            default: passage.deliver([.begin([])])
            }
            try passage.step()
            #expect(try passage.leader.tally("/visits").holders == 0, "end \(end)")
            #expect(passage.leader.server.connections.remoteCount == 0)
            #expect(
                passage.leader.server.sessions.all.contains { $0.client >> 45 == 2 } == (end != 1))
        }
    }

    @Test("a client that comes back learns that what its action owned has ended")
    func ownerEnded() throws {
        let passage = try Passage()
        let session = try #require(passage.follower.server.sessions.all.last?.secret)
        passage.client.dispatch(Tally.Action.hold)
        passage.pass()
        // Its row comes only after the client's next connection.
        passage.follower.disconnect(passage.client.id)
        let back = Passage.connect(passage.follower, session: session)
        back.dispatch(Tally.Action.hold, ordinal: 1)
        try passage.step()
        try passage.step()
        guard case .applied(_, _, true)? = try OutcomeLog(back.frames())[1] else {
            Issue.record("the outcome does not say that the owner has ended")
            return
        }
        #expect(try passage.leader.tally("/visits").holders == 0)
    }

    @Test("an answer that is given later, and the end of effects, reach the client of a follower")
    func deferred() throws {
        let passage = try Passage()
        passage.client.dispatch(Tally.Action.wait)
        try passage.step()
        #expect(passage.client.frames().isEmpty && passage.follower.server.owedCount == 0)
        passage.pair.client.dispatch(Tally.Action.grant(value: 9))
        try passage.step()
        #expect(try OutcomeLog(passage.client.frames())[1]?.isApplied == true)
    }

    @Test("a refusal for lack of space, which no row has, comes back over the link")
    func lackOfSpace() throws {
        let passage = try Passage()
        passage.client.add(1)
        try passage.step()
        passage.leader.server.limitGrowth()
        passage.client.add(1_000)
        try passage.step()
        let log = try OutcomeLog(passage.client.frames())
        #expect(log[2]?.code == FaultCode.diskFull.rawValue)
        #expect(passage.follower.server.owedCount == 0)
    }

    @Test("a follower reads no more from a client that waits for too many outcomes")
    func flow() throws {
        let passage = try Passage(isLinked: false)
        var limits = ServerLimits()
        limits.inFlightMax = 4
        passage.follower.server.setLimits(limits)
        for _ in 0..<20 { passage.client.add(1) }
        _ = passage.take()
        #expect(passage.follower.server.owedCount == 5 && passage.client.socket.isPaused)
        passage.follower.server.openLink(to: 1, at: passage.follower.now)
        for _ in 0..<10 { try passage.step() }
        #expect(try passage.count == 20 && !passage.client.socket.isPaused)
    }

    @Test("an action that leaders had when they ended is sent alone, and at last refused")
    func suspects() throws {
        let passage = try Passage()
        passage.client.add(1)
        passage.client.add(10)
        _ = passage.take()
        func sent(in term: UInt64) -> [(deaths: UInt64, byteCount: Int)] {
            passage.follower.server.closeLink(at: passage.follower.now)
            passage.follower.server.openLink(to: term, at: passage.follower.now)
            return passage.take().compactMap { request in
                if case .actions(_, _, let frames, let deaths, _) = request {
                    (deaths, frames.count)
                } else {
                    nil
                }
            }
        }
        // The same leader has both again.
        #expect(sent(in: 1).map(\.deaths) == [0])
        let alone = sent(in: 2)
        #expect(alone.map(\.deaths) == [1])
        #expect(sent(in: 3).map(\.deaths) == [2])
        passage.follower.server.closeLink(at: passage.follower.now)
        passage.follower.server.openLink(to: 3, at: passage.follower.now)
        for _ in 0..<3 { try passage.step() }
        let log = try OutcomeLog(passage.client.frames())
        #expect(log[1]?.code == FaultCode.poisoned.rawValue && log[2]?.isApplied == true)
        #expect(try passage.count == 10)
    }

    @Test(
        "a client that is cut off and sends its action again does not clear it",
        arguments: [false, true])
    func suspectsOfFormerConnections(leads: Bool) throws {
        let passage = try Passage()
        let (server, follower) = (passage.follower.server, passage.follower)
        var client = follower.client()
        let session = try client.welcome().session
        func comeBack() {
            client.disconnect()
            client = Passage.connect(follower, session: session)
            client.dispatch(Tally.Action.add(by: 1), ordinal: 1)
        }
        client.open("/visits", as: 0)
        client.add(1)
        _ = passage.take()
        // The first daemon ends while the client is away, the second while it is back.
        client.disconnect()
        server.closeLink(at: follower.now)
        server.openLink(to: 2, at: follower.now)
        comeBack()
        _ = passage.take()
        comeBack()
        if leads {
            try server.lead(in: 3, at: follower.now)
            server.carryOutOwed(at: follower.now)
            follower.settle()
        } else {
            server.closeLink(at: follower.now)
            server.openLink(to: 3, at: follower.now)
            for _ in 0..<3 { try passage.step() }
        }
        let log = try OutcomeLog(client.frames())
        #expect(log[1]?.code == FaultCode.poisoned.rawValue)
    }

    @Test("a leader knows the actions of clients that are away, and an own end counts once")
    func suspectsOfAbsentClients() throws {
        let passage = try Passage()
        let (server, follower) = (passage.follower.server, passage.follower)
        let client = follower.client()
        let session = try client.welcome().session
        client.open("/visits", as: 0)
        client.add(1)
        client.add(10)
        for term in 2...3 as ClosedRange<UInt64> {
            _ = passage.take()
            server.closeLink(at: follower.now)
            server.openLink(to: term, at: follower.now)
        }
        client.disconnect()
        try server.lead(in: 4, at: follower.now)
        server.carryOutOwed(at: follower.now)
        let next = Passage.connect(follower, session: session)
        next.dispatch(Tally.Action.add(by: 1), ordinal: 1)
        next.dispatch(Tally.Action.add(by: 10), ordinal: 2)
        follower.settle()
        let log = try OutcomeLog(next.frames())
        // Only the first was sent while it was suspected.
        #expect(log[1]?.code == FaultCode.poisoned.rawValue && log[2]?.isApplied == true)
    }

    @Test("the book of abandoned actions is bounded, and forgets the first session first")
    func abandonedActions() {
        func session(_ number: UInt8) -> Session {
            Session(
                secret: [UInt8](repeating: number, count: Session.secretBytes), uid: 0,
                client: UInt64(number))
        }
        let sessions = [session(1), session(2), session(3)]
        var book = AbandonedActions(countMax: 4)
        let doubt = AbandonedActions.Doubt(deaths: 0, isOpen: true)
        for session in sessions {
            for ordinal in [1, 2] as [UInt64] { book.remember(doubt, of: ordinal, session) }
        }
        book.remember(.init(deaths: 0, isOpen: false), of: 3, sessions[2])
        #expect(book.count == 4 && book.recall(1, of: sessions[0]) == nil)
        #expect(book.recall(2, of: sessions[1]) == doubt && book.recall(2, of: sessions[1]) == nil)
        book.endTerm(isSuspected: true)
        #expect(book.recall(1, of: sessions[1]) == .init(deaths: 1, isOpen: false))
        // A row has the first action by now.
        sessions[2].advance(to: 1)
        book.endTerm(isSuspected: true)
        #expect(book.count == 1)
        let suspects = book.takeSuspects(countMax: 8)
        #expect(suspects.map(\.ordinal) == [2] && suspects.map(\.deaths) == [1])
        #expect(book.count == 0 && book.takeSuspects(countMax: 8).isEmpty)
        book.remember(doubt, of: 4, sessions[0])
        book.dropDoubts(of: sessions[0])
        #expect(book.count == 0 && book.recall(4, of: sessions[0]) == nil)
        // A daemon that hands over ends by no action, and nothing is left to say of these.
        book.remember(doubt, of: 5, sessions[0])
        book.endTerm(isSuspected: false)
        #expect(book.count == 0)
    }

    @Test("a deadline counts the time for which an action waits for a link, also at a new leader")
    func deadlines() throws {
        for leads in [false, true] {
            let passage = try Passage(isLinked: false)
            let (server, follower) = (passage.follower.server, passage.follower)
            for deadline in [300, 100] as [UInt32] {
                passage.client.dispatch(
                    Tally.Action.add(by: 1), options: DispatchOptions(deadline: deadline))
            }
            passage.client.add(10)
            _ = passage.take()
            follower.now += 200_000_000
            passage.client.dispatch(
                Tally.Action.add(by: 100), options: DispatchOptions(deadline: 100))
            if leads {
                try server.lead(in: 2, at: follower.now)
                server.carryOutOwed(at: follower.now)
                follower.settle()
            } else {
                server.openLink(to: 1, at: follower.now)
                try passage.step()
            }
            let log = try OutcomeLog(passage.client.frames())
            #expect(log[2]?.code == FaultCode.deadline.rawValue, "leads: \(leads)")
            #expect([1, 3, 4].allSatisfy { log[$0]?.isApplied == true }, "leads: \(leads)")
            let harness = leads ? follower : passage.leader
            #expect(try harness.tally("/visits").count == 111)
        }
    }

    @Test("a program that continues a session learns which ordinals the former one has passed on")
    func passedOn() throws {
        let passage = try Passage()
        let client = passage.follower.client()
        let welcome = try client.welcome()
        client.open("/visits", as: 0)
        for _ in 0..<3 { client.add(1) }
        _ = passage.take()
        client.disconnect()
        let next = passage.follower.client(session: welcome.session)
        let second = try next.welcome()
        #expect(second.isResumed && second.ordinal == 3)
    }

    @Test("what a former connection sent is answered when the client sends it again, not before")
    func formerConnection() throws {
        for isRefused in [false, true] {
            let passage = try Passage()
            let client = passage.follower.client()
            let welcome = try client.welcome()
            client.open("/visits", as: 0)
            if isRefused {
                client.dispatch(Tally.Action.refuse(text: "no"))
            } else {
                client.add(1)
            }
            let requests = passage.take()
            client.disconnect()
            let next = passage.follower.client(session: welcome.session)
            _ = try next.welcome()
            // The rows come before the client has subscribed and sent again.
            passage.deliver(requests)
            try passage.step()
            #expect(next.frames().isEmpty)
            next.open("/visits", as: 0)
            next.subscribe("/visits")
            if isRefused {
                next.dispatch(Tally.Action.refuse(text: "no"))
            } else {
                next.add(1)
            }
            try passage.step()
            let frames = next.frames()
            let log = try OutcomeLog(frames)
            #expect(log.outcomes[1]?.count == 1 && log[1]?.isApplied == !isRefused)
            #expect(try passage.count == (isRefused ? 0 : 1))
        }
    }

    @Test("sessions of other daemons' clients count, and evict those that left longest ago")
    func sessionsMax() throws {
        let passage = try Passage()
        var limits = passage.leader.server.limits
        limits.sessionsMax = 3
        passage.leader.server.setLimits(limits)
        for _ in 0..<6 {
            let client = Passage.connect(passage.follower)
            client.add(1)
            try passage.step()
            client.disconnect()
            try passage.step()
        }
        #expect(try passage.count == 6)
        #expect(passage.leader.server.sessions.count <= 3)
        #expect(passage.follower.server.sessions.all.count { $0.isStored } <= 3)
    }

    @Test("a node that leads next suspects what the leader had, unless that stepped down")
    func ownSuspects() throws {
        for stepsDown in [false, true] {
            let passage = try Passage()
            passage.client.add(1)
            _ = passage.take()
            let forwarder = passage.follower.server.dispatcher.forwarder
            if stepsDown { forwarder.excuse() }
            let owed = forwarder.takeOwed(settling: [])
            #expect(owed.map(\.action.deaths) == [stepsDown ? 0 : 1], "\(stepsDown)")
        }
    }

    @Test("one number may name two nodes, one after the other")
    func aliases() throws {
        let passage = try Passage()
        passage.client.add(1)
        passage.client.open("/other", as: 0)
        passage.client.add(10)
        try passage.step()
        #expect(try passage.count == 1 && passage.leader.tally("/other").count == 10)
    }

    @Test("a node cannot act for the connections of another, and a session is used once")
    func trust() throws {
        let passage = try Passage()
        passage.client.add(1)
        let requests = passage.take()
        for request in requests { passage.leader.server.receive(request, from: 3, at: 0) }
        passage.leader.settle()
        #expect(try passage.count == 0 && passage.leader.server.connections.remoteCount == 0)
        passage.deliver(requests)
        #expect(try passage.count == 1)
        guard
            case .connect(var twin)? = requests.first(where: {
                if case .connect = $0 { true } else { false }
            })
        else {
            Issue.record("\(requests)")
            return
        }
        twin.connection += 1
        passage.deliver([.connect(twin)])
        guard
            case .ended(twin.connection, FaultCode.sessionBusy.rawValue, _)? =
                passage.leader.replies.last
        else {
            Issue.record("\(passage.leader.replies)")
            return
        }
    }
}
