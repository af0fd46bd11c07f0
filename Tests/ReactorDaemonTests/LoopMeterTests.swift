import ReactorWire
import Testing

@testable import ReactorDaemon
@testable import ReactorServer

/// Drives ``CommitTimes``.
@Suite("LoopMeter")
struct LoopMeterTests {
    private func progress(_ actions: UInt64, spans: UInt64 = 1) -> ActionProgress {
        ActionProgress(actionCount: actions, spanCount: spans)
    }

    @Test("a turn lasts from its first event to its last output")
    func turn() {
        let meter = LoopMeter()
        meter.beginRead(of: ConnectionID(1), at: 1_000, progress(0))
        _ = meter.endRead(at: 1_800, progress(0))
        meter.beginWork(at: 1_800)
        meter.endTurn(at: 2_000)
        meter.beginWork(at: 5_000)
        meter.beginWork(at: 5_050)
        meter.endTurn(at: 5_100)
        #expect(meter.figures.turns.count == 2)
        #expect(meter.figures.turns.sum == 1_100)
    }

    @Test("the actions of one read share its duration, and a read without actions has none")
    func actions() {
        let meter = LoopMeter()
        meter.beginRead(of: ConnectionID(1), at: 1_000, progress(4))
        let isOpen = meter.isReading
        let isSlow = [
            meter.endRead(at: 2_600, progress(20)), meter.endRead(at: 9_000, progress(21)),
        ]
        meter.beginRead(of: ConnectionID(2), at: 9_000, progress(21))
        let isEmptySlow = meter.endRead(at: 99_000, progress(21))
        #expect(isOpen && !meter.isReading)
        #expect(isSlow == [nil, nil] && isEmptySlow == nil)
        #expect(meter.figures.actions.count == 16)
        #expect(meter.figures.actions.sum == 1_600)
    }

    @Test("one report of the journal ends all batches up to its turn")
    func commits() {
        let meter = LoopMeter()
        for turn: UInt64 in 1...3 { meter.beginCommit(of: turn, byteCount: 9, at: turn * 100) }
        meter.endCommits(upTo: 2, at: 1_000)
        #expect(meter.figures.commits.count == 2)
        #expect(meter.figures.commits.sum == 900 + 800)
        meter.forgetCommits()
        meter.endCommits(upTo: 3, at: 2_000)
        #expect(meter.figures.commits.count == 2)
    }

    @Test("batches end in the order in which they began, and their memory is used again")
    func times() {
        var times = CommitTimes()
        for round: UInt64 in 0..<3 {
            times.append(round * 2 + 1, byteCount: 1, at: 10)
            times.append(round * 2 + 2, byteCount: 2, at: 20)
            let ends = [
                times.takeFirst(upTo: round * 2 + 1), times.takeFirst(upTo: round * 2 + 1),
                times.takeFirst(upTo: .max), times.takeFirst(upTo: .max),
            ]
            #expect(ends.map { $0?.start } == [10, nil, 20, nil])
            #expect(ends.map { $0?.byteCount } == [1, nil, 2, nil])
            #expect(times.count == 0)
        }
    }

    @Test("turns, commits and answers above their thresholds are kept, and shorter ones are not")
    func slow() throws {
        var config = SlowLogConfig()
        config.actions = .nanoseconds(500)
        config.turns = .nanoseconds(1_000)
        config.commits = .nanoseconds(2_000)
        config.questions = .nanoseconds(3_000)
        let meter = LoopMeter()
        meter.keepSlow(config)
        for duration: UInt64 in [999, 1_000] {
            meter.beginRead(of: ConnectionID(7), at: 10, progress(5, spans: 1))
            let slow = meter.endRead(at: duration / 2 + 10, progress(9, spans: 3))
            #expect((slow != nil) == (duration == 1_000))
            #expect(slow.map { $0.connection == 7 && $0.actions == 4 && $0.isMixed } ?? true)
            meter.endTurn(at: 10 + duration)
        }
        for (turn, duration) in [(UInt64(1), UInt64(1_999)), (2, 2_000)] {
            meter.beginCommit(of: turn, byteCount: 77, at: 10)
            meter.endCommits(upTo: turn, at: 10 + duration)
        }
        for nanoseconds: UInt64 in [2_999, 3_000] {
            meter.recordAnswer(
                to: ("past", "/visits"), of: ConnectionID(5), Peer(uid: 1, gid: 2, pid: 3),
                byteCount: 8, nanoseconds: nanoseconds)
        }
        let entries = meter.slowLog.entries(after: 0)
        #expect(entries.map(\.kind) == [.turn, .commit, .question])
        #expect(entries.map(\.nanoseconds) == [1_000, 2_000, 3_000])
        #expect(entries[0].actions == 4 && entries[1].bytes == 77)
        let question = try #require(entries.last)
        #expect(question.question == "past" && question.path == "/visits")
        #expect(question.connection == 5 && question.uid == 1 && question.pid == 3)
    }

    /// A meter that keeps turns of 1,000 ns and more.
    private func turnMeter() -> LoopMeter {
        var config = SlowLogConfig()
        (config.actions, config.turns) = (.nanoseconds(5_000), .nanoseconds(1_000))
        let meter = LoopMeter()
        meter.keepSlow(config)
        return meter
    }

    private func asked(at time: UInt64) -> AskedQuestion {
        AskedQuestion(
            ask: .get(path: "/page"), connection: ConnectionID(9),
            peer: Peer(uid: 4, gid: 5, pid: 6), time: time)
    }

    @Test("a slow turn names the client of the read that took half of its time, also of a question")
    func causes() throws {
        let meter = turnMeter()
        for (connection, start, end) in [(UInt64(1), UInt64(10), UInt64(310)), (2, 310, 910)] {
            meter.beginRead(of: ConnectionID(connection), at: start, progress(0))
            guard var read = meter.endRead(at: end, progress(0)) else {
                #expect(connection == 1)
                continue
            }
            read.uid = 7
            read.attribute(to: asked(at: start))
            meter.keepRead(read)
        }
        meter.endTurn(at: 1_210) { nil }
        // The next turn has no read that is long enough.
        meter.beginRead(of: ConnectionID(3), at: 2_000, progress(0))
        #expect(meter.endRead(at: 2_100, progress(4)) == nil)
        meter.endTurn(at: 3_100) { asked(at: 2_000) }
        let entries = meter.slowLog.entries(after: 0)
        #expect(entries.map(\.kind) == [.turn, .turn])
        #expect(entries[0].question == "get" && entries[0].path == "/page")
        #expect(entries[0].connection == 9 && entries[0].uid == 4 && entries[0].pid == 6)
        #expect(entries[1].connection == nil && entries[1].question == nil)
        #expect(entries[1].actions == 4)
    }

    @Test("a slow turn without actions names the question that arrived in it, and no earlier one")
    func lateAnswers() {
        let meter = turnMeter()
        for (time, isAttributed) in [(UInt64(100), true), (99, false)] {
            meter.beginWork(at: 100)
            meter.endTurn(at: 1_500) { asked(at: time) }
            let entry = meter.slowLog.entries(after: 0).last
            #expect((entry?.question == "get") == isAttributed)
            #expect((entry?.connection == 9) == isAttributed)
        }
    }
}
