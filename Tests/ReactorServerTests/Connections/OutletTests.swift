import ReactorBytes
import ReactorWire
import Testing

@testable import ReactorServer

/// An outlet, tested alone: the outputs of turns, and the order in which they are written.
struct OutletTests {
    /// An outlet with its turns and a socket that takes everything.
    private struct Bench: ~Copyable {
        var outlet = Outlet()
        var turn: UInt64 = 1
        var sequence: UInt64 = 0
        var status = ConnectionStatus(hasSubscriptions: true, releasedTurn: 0, queueBytesMax: 1_000)
        /// The written bytes, as text.
        var written = ""
        var ended: [AnswerStream] = []

        /// Ends a turn with these texts for the connection; returns whether updates were dropped.
        mutating func end(
            deltas: String = "", value: String = "", snapshot: String = "", replies: String = "",
            outcomes: String = ""
        ) -> Bool {
            sequence += 1
            let (updates, answers) = (Array(deltas.utf8), Array(replies.utf8))
            if !updates.isEmpty { outlet.addDeltas(0..<updates.count) }
            if !value.isEmpty { outlet.addChunk(Array(value.utf8), isSnapshot: false) }
            if !snapshot.isEmpty { outlet.addChunk(Array(snapshot.utf8), isSnapshot: true) }
            if !answers.isEmpty { outlet.addReply(0..<answers.count) }
            let results = Array(outcomes.utf8)
            if !results.isEmpty { outlet.addOutcome(0..<results.count, isCounted: true) }
            let output = TurnOutput(
                number: turn, sequence: sequence, deltas: updates + Array("|".utf8),
                mark: updates.count..<updates.count + 1, replies: answers, outcomes: results)
            turn += 1
            return outlet.enqueue(output, given: status)
        }

        /// Writes what may leave, up to a turn; returns whether there was anything to write.
        mutating func flush(upTo turn: UInt64 = .max, byteCountMax: Int = 1 << 20) -> Bool {
            switch outlet.flush(
                upTo: turn, writeBytesMax: byteCountMax, at: turn, ended: &ended)
            {
            case .busy, .idle: return false
            case .write(let slices):
                for slice in slices {
                    let bytes = slice.storage[slice.range]
                    written +=
                        Array(bytes) == OutletTests.lag
                        ? "LAG" : String(decoding: bytes, as: UTF8.self)
                }
                outlet.endWrite()
                return true
            }
        }
    }

    fileprivate static let lag: [UInt8] = {
        var writer = WireWriter()
        writer.header(FrameHeader(kind: .lag))
        return writer.bytes
    }()

    @Test("a turn leaves as replies, values, deltas, the mark, then outcomes")
    func order() {
        var bench = Bench()
        let isCut = bench.end(deltas: "d", value: "v", replies: "r", outcomes: "o")
        let isWritten = bench.flush()
        #expect(!isCut && isWritten)
        #expect(bench.written == "rvd|o")
        let (updates, control) = (bench.outlet.updateByteCount, bench.outlet.controlByteCount)
        #expect(updates == 0 && control == 0)
    }

    @Test("nothing leaves before its turn is released, and one write is under way at a time")
    func released() {
        var bench = Bench()
        for text in ["a", "b", "c"] { _ = bench.end(outcomes: text) }
        let isEarly = bench.flush(upTo: 0)
        #expect(!isEarly)
        _ = bench.flush(upTo: 2)
        #expect(bench.written == "|a|b")
        var ended: [AnswerStream] = []
        _ = bench.end(outcomes: "d")
        let first = bench.outlet.flush(upTo: 3, writeBytesMax: 1, at: 0, ended: &ended)
        guard case .write = first else {
            Issue.record("a released turn did not leave")
            return
        }
        let second = bench.outlet.flush(upTo: 9, writeBytesMax: 1, at: 0, ended: &ended)
        guard case .busy = second else {
            Issue.record("a second write began before the first was taken")
            return
        }
    }

    @Test("updates above the limit are dropped for a lag, and outcomes stay")
    func conflation() {
        var bench = Bench()
        let big = String(repeating: "x", count: 600)
        let isCutAtOnce = bench.end(deltas: big, outcomes: "o1")
        #expect(!isCutAtOnce)
        let isCut = bench.end(deltas: big, outcomes: "o2")
        #expect(isCut)
        let (state, updates) = (bench.outlet.state, bench.outlet.updateByteCount)
        #expect(state == .lagging && updates == 0)
        _ = bench.flush()
        #expect(bench.written == "LAGo1o2")
    }

    @Test("a turn larger than the limit finds room in an empty queue")
    func largeTurn() {
        var bench = Bench()
        let isCut = bench.end(deltas: String(repeating: "x", count: 5_000))
        #expect(!isCut)
        let state = bench.outlet.state
        #expect(state == .current)
    }

    @Test("a lagging client gets no mark until its snapshots, which are not dropped")
    func snapshots() {
        var bench = Bench()
        let big = String(repeating: "x", count: 600)
        _ = bench.end(deltas: big)
        _ = bench.end(deltas: big)
        _ = bench.end(outcomes: "o")
        let isEarly = bench.outlet.canTakeSnapshot(queueBytesMax: 1_000)
        #expect(isEarly, "no update is queued and nothing is being written")
        _ = bench.flush()
        #expect(bench.written == "LAGo")
        bench.outlet.catchUp()
        _ = bench.end(snapshot: String(repeating: "S", count: 1_200))
        let isCut = bench.end(deltas: big)
        #expect(isCut)
        bench.written = ""
        _ = bench.flush()
        #expect(bench.written == "LAG" + String(repeating: "S", count: 1_200))
    }

    @Test("a client that waits for a snapshot has room for it while its updates are few")
    func behind() {
        var bench = Bench()
        bench.outlet.fallBehind()
        let (hasRoom, room) = (
            bench.outlet.canTakeSnapshot(queueBytesMax: 1_000),
            bench.outlet.snapshotRoom(queueBytesMax: 1_000)
        )
        #expect(hasRoom && room == 1_000)
        _ = bench.end(value: String(repeating: "v", count: 2_000))
        let isFull = !bench.outlet.canTakeSnapshot(queueBytesMax: 1_000)
        #expect(isFull)
        bench.outlet.detach()
        let state = bench.outlet.state
        #expect(state == .current)
    }

    @Test("a client that leaves while it lags is owed nothing, and gets no mark")
    func detached() {
        var bench = Bench()
        let big = String(repeating: "x", count: 600)
        _ = bench.end(deltas: big)
        _ = bench.end(deltas: big)
        bench.outlet.detach()
        let (state, owes) = (bench.outlet.state, bench.outlet.owesSnapshots)
        #expect(state == .detached && !owes)
        bench.status.isClosing = true
        _ = bench.end(outcomes: "o")
        _ = bench.flush()
        #expect(bench.written == "LAGo")
    }

    @Test("marks alone do not fill the queue of a client that never reads")
    func marks() {
        var bench = Bench()
        for _ in 0..<1_000 { _ = bench.end() }
        let updates = bench.outlet.updateByteCount
        #expect(updates <= 1_000 + 65)
        _ = bench.end(outcomes: "o")
        let isMarked = !bench.outlet.isMarked(before: bench.sequence)
        #expect(isMarked, "an outcome comes behind the mark of its turn")
    }

    @Test("actions are in flight until the last of their outcomes has left, or has none")
    func inFlight() {
        var bench = Bench()
        bench.outlet.beginActions(3, byteCount: 90)
        _ = bench.end(outcomes: "o")
        bench.outlet.beginActions(2, byteCount: 10)
        let all = bench.outlet.inFlight
        #expect(all == ActionCount(count: 5, byteCount: 100))
        _ = bench.end()
        let answered = bench.outlet.inFlight
        #expect(answered == ActionCount(count: 3, byteCount: 90))
        _ = bench.flush()
        let none = bench.outlet.inFlight
        #expect(none == ActionCount())
    }

    @Test("a run of plain outcomes is one frame, and a gap ends it")
    func runs() {
        var outlet = Outlet()
        let first = outlet.addRun(AppliedRun(ordinal: 1, sequence: 10, count: 2))
        let second = outlet.addRun(AppliedRun(ordinal: 3, sequence: 12, count: 1))
        let third = outlet.addRun(AppliedRun(ordinal: 4, sequence: 20, count: 1))
        #expect(first == nil && second == nil)
        #expect(third == AppliedRun(ordinal: 1, sequence: 10, count: 3))
        let last = outlet.takeRun()
        #expect(last == AppliedRun(ordinal: 4, sequence: 20, count: 1))
        let none = outlet.takeRun()
        #expect(none == nil)
    }

    @Test("waiting bytes of a large turn are copied if they are few, and keep no more alive")
    func copies() {
        var bench = Bench()
        bench.status.isUpdateQueueFull = true
        let output = TurnOutput(
            number: 1, sequence: 1, deltas: [UInt8](repeating: 7, count: 50_000), mark: 0..<10,
            replies: [], outcomes: [])
        _ = bench.outlet.enqueue(output, given: bench.status)
        let kept = bench.outlet.keptByteCount
        #expect(kept == 10)
    }

    @Test("a large answer leaves in parts after queued frames, and is done with its last part")
    func answers() throws {
        var table = AnswerTable()
        let answer = table.single([UInt8](repeating: 65, count: WireWriter.partBytesMax + 10))
        table.retain(answer)
        var bench = Bench()
        _ = bench.end(outcomes: "o")
        bench.outlet.send(AnswerStream(5, [], answer, turn: 2, at: 0))
        let isUrgent = bench.outlet.isUrgent(in: 2)
        #expect(isUrgent)
        _ = bench.flush(upTo: 1)
        #expect(bench.written == "|o")
        _ = bench.flush(upTo: 2, byteCountMax: 1)
        #expect(bench.ended.isEmpty)
        let movedAt = bench.outlet.streamMovedAt
        #expect(movedAt == 2)
        _ = bench.flush(upTo: 3, byteCountMax: 1)
        #expect(bench.ended.map(\.number) == [5])
        let hasStreams = bench.outlet.hasStreams
        #expect(!hasStreams)
    }

    @Test("a cleared outlet holds nothing and counts nothing")
    func clear() {
        var bench = Bench()
        bench.outlet.beginActions(1, byteCount: 20)
        _ = bench.end(deltas: "d", outcomes: "o")
        bench.outlet.beginActions(1, byteCount: 20)
        bench.outlet.clear()
        let (isEmpty, inFlight) = (bench.outlet.isEmpty, bench.outlet.inFlight)
        #expect(isEmpty && inFlight == ActionCount())
        let isWritten = bench.flush()
        #expect(!isWritten)
    }
}
