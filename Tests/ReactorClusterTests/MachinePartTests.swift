import Testing

@testable import ReactorCluster

/// Parts of the machine, each without the others.
private let millisecond: UInt64 = 1_000_000
private let nodes = (1...3).map { ClusterNode(UInt8($0)) }

private func makeSettings() -> ClusterSettings { ClusterSettings(node: nodes[0], nodes: nodes) }

private func sighting(head: UInt64 = 4, term: UInt64 = 9, beat: UInt64 = 30) -> LeaderSighting {
    LeaderSighting(
        head: LogPosition(number: head, revision: head * 10), term: term, leader: nil, beat: beat,
        nodes: [])
}

struct LeaderSilenceTests {
    /// Looks at a state that does not change, until the silence is over. Returns the time.
    private static func time(
        every interval: UInt64, _ settings: ClusterSettings, at look: (UInt64) -> LeaderSighting
    ) -> UInt64? {
        var silence = LeaderSilence(settings, seed: 1)
        for count in 0..<200 as Range<UInt64> {
            silence.see(look(count), at: 77 + count * interval)
            if silence.isOver { return count * interval }
        }
        return nil
    }

    @Test("the silence is over after the time for a take-over, and at most the random delay more")
    func length() throws {
        let settings = makeSettings()
        let time = try #require(
            Self.time(every: 10 * millisecond, settings) { _ in sighting() })
        #expect(time >= settings.takeover)
        #expect(time <= settings.takeover + settings.delayMax + 10 * millisecond)
    }

    @Test(
        "each sign of life begins the silence again",
        arguments: [(5, 9, 30), (4, 10, 30), (4, 9, 31)] as [(UInt64, UInt64, UInt64)])
    func sign(head: UInt64, term: UInt64, beat: UInt64) throws {
        let settings = makeSettings()
        let time = try #require(
            Self.time(every: 200 * millisecond, settings) { count in
                count < 7 ? sighting() : sighting(head: head, term: term, beat: beat)
            })
        #expect(time >= 7 * 200 * millisecond + settings.takeover)
    }

    @Test("slow looks count for at most twice their interval, and at least five are needed")
    func slowLooks() throws {
        var few = makeSettings()
        few.takeover = 1
        few.delayMax = 0
        let interval = 400 * millisecond
        #expect(Self.time(every: interval, few) { _ in sighting() } == 4 * interval)
        let settings = makeSettings()
        let time = try #require(
            Self.time(every: 10_000 * millisecond, settings) { _ in sighting() })
        #expect(time >= settings.takeover / interval * 10_000 * millisecond)
    }

    @Test("a look without an answer begins the silence again")
    func interruption() {
        var silence = LeaderSilence(makeSettings(), seed: 1)
        for count in 0..<8 as Range<UInt64> {
            silence.see(sighting(), at: count * 200 * millisecond)
        }
        silence.interrupt()
        for count in 8..<14 as Range<UInt64> {
            silence.see(sighting(), at: count * 200 * millisecond)
            #expect(!silence.isOver)
        }
    }

    @Test("two nodes rarely have the same random delay")
    func delays() {
        let settings = makeSettings()
        let times = (0..<20).map { seed -> UInt64 in
            var silence = LeaderSilence(settings, seed: UInt64(seed))
            var time: UInt64 = 0
            while !silence.isOver {
                silence.see(sighting(), at: time)
                time += millisecond
            }
            return time
        }
        #expect(Set(times).count > 15)
    }
}

struct LeadershipTests {
    private static func leadership(sentAt: UInt64) -> Leadership {
        Leadership(
            term: 3, behind: RowPosition(number: 0, chain: 0), sentAt: sentAt, tenure: 1_000,
            patience: 3_000)
    }

    @Test("a leader stops acting when its tenure is over, once, and later gives up")
    func expiry() {
        var leadership = Self.leadership(sentAt: 50)
        #expect(leadership.expiry == 1_050)
        #expect(leadership.expire(at: 1_049).isEmpty && !leadership.isSuspended)
        #expect(leadership.expire(at: 1_050) == [.suspension] && leadership.isSuspended)
        #expect(leadership.expire(at: 3_049).isEmpty && leadership.expiry == 3_050)
        #expect(leadership.expire(at: 3_050) == [.end])
        var paused = Self.leadership(sentAt: 50)
        #expect(paused.expire(at: 9_000) == [.suspension, .end])
    }

    @Test("a confirmation counts from its call: a late one does not make the leader act again")
    func confirmation() {
        var leadership = Self.leadership(sentAt: 0)
        #expect(!leadership.confirm(sentAt: 400, at: 900) && leadership.expiry == 1_400)
        #expect(leadership.expire(at: 2_000) == [.suspension])
        #expect(!leadership.confirm(sentAt: 900, at: 2_001) && leadership.isSuspended)
        #expect(leadership.confirm(sentAt: 1_900, at: 2_002) && !leadership.isSuspended)
        // An older call that is answered later takes nothing away.
        #expect(!leadership.confirm(sentAt: 500, at: 2_003) && leadership.expiry == 2_900)
    }
}

extension LeadershipTests {
    @Test("a leader that gives its leadership away does not act again")
    func retirement() {
        var leadership = Self.leadership(sentAt: 0)
        #expect(leadership.retire() && !leadership.retire() && leadership.isSuspended)
        #expect(!leadership.confirm(sentAt: 10, at: 11) && leadership.isSuspended)
    }
}

struct CallLedgerTests {
    @Test("one call of a kind is unanswered at a time, and none without a connection")
    func single() {
        var calls = CallLedger()
        #expect(!calls.isReady(.look, at: 5) && calls.readyTime(.look) == nil)
        calls.open()
        #expect(calls.isReady(.look, at: 5) && calls.readyTime(.look) == 0)
        calls.begin(.look, nextAt: 20)
        #expect(!calls.isReady(.look, at: 30) && calls.readyTime(.look) == nil)
        #expect(calls.finish(.look) && !calls.finish(.look))
        #expect(!calls.isReady(.look, at: 19) && calls.isReady(.look, at: 20))
        calls.plan(.look, at: 3)
        #expect(calls.readyTime(.look) == 3 && calls.isReady(.append, at: 0))
    }

    @Test("the answer to an abandoned call is awaited, and dropped")
    func abandoned() {
        var calls = CallLedger()
        calls.open()
        calls.abandon(.append)
        calls.begin(.append, nextAt: 0)
        calls.abandon(.append)
        #expect(!calls.isReady(.append, at: 9))
        #expect(!calls.finish(.append) && calls.isReady(.append, at: 9))
        calls.begin(.append, nextAt: 0)
        #expect(calls.finish(.append) == true)
    }

    @Test("a new connection has no unanswered calls, and keeps the earliest times")
    func reconnection() {
        var calls = CallLedger()
        calls.open()
        calls.begin(.beat, nextAt: 50)
        calls.close()
        #expect(!calls.isReady(.beat, at: 60))
        calls.open()
        #expect(calls.readyTime(.beat) == 50 && !calls.finish(.beat))
    }
}

struct EngineViewTests {
    private static func held(_ node: Int, _ incarnation: UInt64) -> LeaderRecord {
        .held(LeaderClaim(node: nodes[node], incarnation: incarnation, attempt: 1))
    }

    @Test("only a claim of another process of the same node is one of a former process")
    func former() {
        var view = EngineView()
        #expect(!view.isLedByFormerProcess(of: nodes[0], 5))
        view.leader = Self.held(0, 4)
        #expect(view.isLedByFormerProcess(of: nodes[0], 5))
        #expect(!view.isLedByFormerProcess(of: nodes[0], 4))
        #expect(!view.isLedByFormerProcess(of: nodes[1], 5))
        view.leader = .vacant(successor: nodes[0])
        #expect(!view.isLedByFormerProcess(of: nodes[0], 5))
    }

    @Test("a node that yields leaves only a vacancy without a successor to others")
    func vacancies() {
        var view = EngineView()
        view.yieldsUntil = 100
        var seen = sighting()
        #expect(view.isVacant(seen, for: nodes[0], at: 99), "the first leadership")
        seen.leader = .vacant(successor: nil)
        #expect(!view.isVacant(seen, for: nodes[0], at: 99))
        #expect(view.isVacant(seen, for: nodes[0], at: 100))
        seen.leader = .vacant(successor: nodes[0])
        #expect(view.isVacant(seen, for: nodes[0], at: 99))
        #expect(!view.isVacant(seen, for: nodes[1], at: 100))
        seen.leader = Self.held(2, 1)
        #expect(!view.isVacant(seen, for: nodes[0], at: 100))
    }
}

struct WatchFeedTests {
    @Test("a gap opens the watch again once, until an entry has come")
    func gaps() {
        var feed = WatchFeed()
        #expect(!feed.mustReopenAtGap())
        feed.open()
        #expect(!feed.mustReopenAtGap())
        feed.advance()
        #expect(feed.mustReopenAtGap())
        feed.close()
        #expect(!feed.mustReopenAtGap())
    }

    @Test("an entry that is missing for two looks opens the watch again, if no other came")
    func polls() {
        var feed = WatchFeed()
        var now: UInt64 = 0
        func poll(head: UInt64, read: UInt64, after pause: UInt64 = 400) -> Bool {
            now += pause * 1_000_000
            return feed.poll(head: head, read: read, at: now)
        }
        feed.open()
        #expect(poll(head: 5, read: 3) == false)
        #expect(poll(head: 5, read: 3) == true)
        feed.open()
        #expect(!poll(head: 5, read: 3) && !poll(head: 9, read: 4))
        #expect(!poll(head: 9, read: 9) && !poll(head: 10, read: 9))
        #expect(poll(head: 12, read: 10) == false)
        #expect(poll(head: 12, read: 10) == true)
        feed.close()
        #expect(poll(head: 12, read: 10) == false)
        // Looks that follow soon do not count, however many they are.
        feed.open()
        #expect(!poll(head: 12, read: 10))
        for _ in 0..<14 { #expect(!poll(head: 12, read: 10, after: 20)) }
        #expect(poll(head: 12, read: 10, after: 20))
    }

    @Test("a feed that is held opens no watch, and ends the open one")
    func holds() {
        var feed = WatchFeed()
        #expect(feed.mustOpen && !feed.hold(true) && !feed.mustOpen)
        #expect(!feed.hold(false) && feed.mustOpen)
        feed.open()
        #expect(!feed.mustOpen && feed.hold(true) && !feed.isOpen && !feed.hold(true))
        #expect(!feed.hold(false) && feed.mustOpen)
    }
}

struct NodeBookTests {
    private static func report(_ node: Int, version: UInt64, durable: UInt64 = 0) -> NodeSighting {
        var report = NodeReport(node: nodes[node])
        report.durablePosition = LogPosition(number: durable, revision: durable * 10)
        return NodeSighting(version: version, report: report)
    }

    @Test("a later report replaces an earlier one, and not the other way round")
    func versions() {
        var book = NodeBook(makeSettings())
        book.observe([Self.report(1, version: 2, durable: 7)], at: 0)
        book.observe([Self.report(1, version: 1, durable: 3)], at: 1)
        #expect(book.durable.map(\.number) == [0, 7, 0])
        #expect(book.reports.map(\.node) == [nodes[1]])
    }

    @Test("a node without a new report for too long is lost, also one that never reported")
    func lost() {
        let settings = makeSettings()
        var book = NodeBook(settings)
        #expect(book.lost(at: 1 << 60).isEmpty)
        book.observe([Self.report(1, version: 1)], at: 100)
        let limit = settings.lostAfter + settings.reportInterval
        #expect(book.lost(at: 100 + limit).isEmpty)
        #expect(book.lost(at: 101 + limit) == [nodes[1], nodes[2]])
        book.observe([Self.report(1, version: 1)], at: 101 + limit)
        #expect(book.lost(at: 101 + limit) == [nodes[1], nodes[2]])
        book.observe([Self.report(1, version: 2)], at: 101 + limit)
        #expect(book.lost(at: 101 + limit) == [nodes[2]])
        book.forgive(at: 101 + limit)
        #expect(book.lost(at: 102 + limit).isEmpty)
    }

    @Test("a node's clock is known from a report that came between two looks, and goes on")
    func clocks() {
        var book = NodeBook(makeSettings())
        var made = Self.report(1, version: 4)
        made.report.wallClock = 9_000
        book.observe([made], at: 0)
        #expect(book.wallClock(of: nodes[1], at: 0) == nil, "the first report may be old")
        made.version = 5
        book.observe([made], at: 200 * millisecond)
        // In the middle between the looks, as far as this node can know.
        #expect(book.wallClock(of: nodes[1], at: 200 * millisecond) == 9_100)
        book.observe([made], at: 400 * millisecond)
        book.forgive(at: 500 * millisecond)
        #expect(book.wallClock(of: nodes[1], at: 4_100 * millisecond) == 13_000)
        // A look that came much later does not tell when the report was made.
        made.version = 6
        book.observe([made], at: 8_000 * millisecond)
        #expect(book.wallClock(of: nodes[1], at: 8_000 * millisecond) == nil)
        #expect(book.wallClock(of: nodes[2], at: 8_000 * millisecond) == nil)
    }
}

struct LogTrimmerTests {
    private static func position(_ number: UInt64) -> LogPosition {
        LogPosition(number: number, revision: number * 10)
    }

    /// A trimmer behind `count` entries of 64 bytes, with a mark at each.
    private static func trimmer(_ count: UInt64) -> LogTrimmer {
        var settings = makeSettings()
        settings.logBytes = 64 * 64
        var trimmer = LogTrimmer(settings, after: .beginning)
        for number in 1...count {
            trimmer.add(LogPosition(number: number, revision: number), byteCount: 64)
        }
        return trimmer
    }

    @Test("the history is compacted up to what all nodes have, if one is not far behind")
    func slowest() {
        var trimmer = Self.trimmer(80)
        #expect(
            trimmer.nextTarget(durable: [80, 60, 30].map(Self.position)) == Self.position(30))
    }

    @Test("nodes too far behind delay no compaction, but the log keeps the last `logBytes`")
    func far() {
        var trimmer = Self.trimmer(200)
        // The log keeps the last 64: the node may be taking a copy.
        let target = trimmer.nextTarget(durable: [3, 200, 150].map(Self.position))
        #expect(target == LogPosition(number: 136, revision: 136))
        trimmer.finish(true)
        #expect(trimmer.uncompactedByteCount == 64 * 64)
        let later = [3, 216, 216].map(Self.position)
        #expect(trimmer.nextTarget(durable: later) == nil)
        for number in 201...216 as ClosedRange<UInt64> {
            trimmer.add(LogPosition(number: number, revision: number), byteCount: 64)
        }
        #expect(trimmer.nextTarget(durable: later) == LogPosition(number: 152, revision: 152))
        var first = Self.trimmer(200)
        let absent = first.nextTarget(durable: [.beginning, Self.position(200), Self.position(200)])
        #expect(absent == target)
        var stuck = Self.trimmer(200)
        #expect(stuck.nextTarget(durable: [200, 4, 3].map(Self.position)) == nil)
        #expect(
            stuck.nextTarget(durable: [200, 50, 3].map(Self.position)) == Self.position(50))
    }

    @Test("a compaction waits for the one before, and for a quarter of the maximum")
    func steps() {
        var trimmer = Self.trimmer(40)
        let all = { (number: UInt64) in [LogPosition](repeating: Self.position(number), count: 3) }
        #expect(trimmer.nextTarget(durable: all(15)) == nil)
        #expect(trimmer.nextTarget(durable: all(16)) == Self.position(16))
        #expect(trimmer.nextTarget(durable: all(40)) == nil)
        trimmer.finish(false)
        #expect(trimmer.uncompactedByteCount == 40 * 64)
        #expect(trimmer.nextTarget(durable: all(20)) == Self.position(20))
        trimmer.finish(true)
        #expect(trimmer.uncompactedByteCount == 20 * 64)
        #expect(trimmer.nextTarget(durable: all(35)) == nil)
        #expect(trimmer.nextTarget(durable: all(36)) == Self.position(36))
    }
}
