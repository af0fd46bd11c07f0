import ReactorCore
import Testing

@testable import ReactorClient

/// The link, tested alone: no socket, no daemon.
struct LinkTests {
    private static func link(
        hasJournal: Bool = false, _ change: (inout ClientOptions) -> Void = { _ in }
    ) -> Link {
        var options = ClientOptions()
        change(&options)
        return Link(options, hasJournal: hasJournal)
    }

    private static func welcome(epoch: UInt64 = 7, sequence: UInt64 = 3) -> Welcome {
        Welcome(
            version: 1, daemon: "d", epoch: epoch, sequence: sequence, session: [1],
            isResumed: false, client: 1, ordinal: 0,
            limits: Welcome.Limits(
                frameBytesMax: 1_000, inFlightMax: 16, nodesMax: 16, subscriptionsMax: 16))
    }

    private static func failure(_ next: Link.Next?) -> ClientError? {
        if case .fail(let error) = next { error } else { nil }
    }

    private static let nothing = Revision(epoch: 0, sequence: 0)

    @Test("a link starts once, sends hello, and is live with its session")
    func start() {
        var link = Self.link()
        let starts = [link.start(nil), link.start(nil)]
        #expect(starts == [true, false])
        let connects = [link.connect(), link.connect()]
        #expect(connects == [true, false])
        #expect(link.hello("p", confirmed: 0, applied: 0).session == nil)
        link.greet(Self.welcome(), shown: Self.nothing)
        #expect(link.phase == .live && link.connectionCount == 1)
        let hello = link.hello("p", confirmed: 4, applied: 5)
        #expect(hello.session == [1] && hello.epoch == 7 && hello.since == 3)
        #expect(hello.confirmed == 4 && hello.applied == 5)
    }

    @Test("a failed first attempt ends the client, unless it keeps trying, after pauses")
    func attempts() {
        var first = Self.link()
        _ = first.start(nil)
        #expect(Self.failure(first.failToConnect([], { 0 })) == .unreachable(tried: []))
        var later = Self.link { $0.keepsTrying = true }
        _ = later.start(nil)
        for attempt in 1...3 {
            let next = later.failToConnect([], { 0 })
            #expect(Self.failure(next) == nil)
            #expect(later.pauses.attempts == attempt)
            guard case .connect = later.timeOut() else {
                Issue.record("no attempt after pause \(attempt)")
                return
            }
        }
    }

    @Test("a closing with a permanent reason ends the client")
    func closed() {
        var link = Self.link { $0.keepsTrying = true }
        _ = link.start(nil)
        _ = link.connect()
        link.part(Closing(.version, "too old"))
        #expect(Self.failure(link.lose { 0 }) == .closed(.version, "too old"))
    }

    @Test("a client gives up a session that stays busy, unless its own journal has the session")
    func busySession() {
        for hasJournal in [false, true] {
            var link = Self.link(hasJournal: hasJournal) {
                $0.keepsTrying = true
                $0.session = [9]
            }
            _ = link.start(nil)
            for _ in 0..<6 {
                _ = link.connect()
                link.part(Closing(.sessionBusy, ""))
                _ = link.lose { 0 }
                _ = link.timeOut()
            }
            #expect(link.session.secret == (hasJournal ? [9] : nil))
        }
    }

    @Test("a welcome that does not come in time is the daemon's silence, not its fault")
    func silence() {
        var link = Self.link()
        _ = link.start(nil)
        _ = link.connect()
        guard case .giveUp(let fault) = link.timeOut() else {
            Issue.record("the handshake has no deadline")
            return
        }
        link.part(fault)
        #expect(
            Self.failure(link.lose { 0 })
                == .unanswered("no welcome within the handshake deadline"))
    }

    @Test("a daemon of another epoch leaves a lost past, with its last known revision")
    func lostPast() {
        var link = Self.link()
        _ = link.start(nil)
        _ = link.connect()
        link.greet(Self.welcome(), shown: Self.nothing)
        link.reach(40)
        _ = link.lose { 0 }
        _ = link.timeOut()
        _ = link.connect()
        link.greet(Self.welcome(epoch: 8), shown: Revision(epoch: 7, sequence: 39))
        #expect(link.takeLostPast() == Revision(epoch: 7, sequence: 40))
        #expect(link.takeLostPast() == nil)
    }

    @Test("calls that wait for a phase are returned when it is reached, and when the client ends")
    func waiters() {
        var link = Self.link()
        _ = link.start(nil)
        var met: [String] = []
        for (name, phase) in [("live", ClientPhase.live), ("never", .failed(.cancelled))] {
            let isKept = link.wait(
                Link.PhaseWaiter(isMet: { now, _ in now == phase }, then: { met.append(name) }))
            #expect(isKept)
        }
        _ = link.connect()
        link.greet(Self.welcome(), shown: Self.nothing)
        for then in link.takeMet() { then() }
        #expect(met == ["live"])
        link.end(.ended)
        for then in link.takeMet() { then() }
        #expect(met == ["live", "never"])
    }

    @Test("pauses double up to the longest, and start again after a successful attempt")
    func pauses() {
        var pauses = Pauses(shortest: 10, longest: 100, timeout: 0)
        let longest: [UInt64] = (0..<6).map { _ in pauses.next { .max } }
        #expect(longest.allSatisfy { (10...100).contains($0) })
        #expect(pauses.attempts == 6 && !pauses.waitOutBusy())
        pauses.restart()
        #expect((10...20).contains(pauses.next { .max }))
        var none = Pauses(shortest: 5, longest: 0, timeout: 0)
        #expect(none.next { .max } == 1)
    }

    @Test("the timeout with a daemon that is too busy runs out")
    func timeout() {
        var pauses = Pauses(shortest: 10, longest: 100, timeout: 25)
        var count = 0
        while pauses.waitOutBusy(), count < 10 {
            _ = pauses.next { 0 }
            count += 1
        }
        #expect(count == 3)
    }
}
