import ReactorBytes
import ReactorWire
import Testing

@testable import ReactorServer

/// The bytes that arrive on a connection, tested without a server.
struct InletTests {
    private let frame: [UInt8] = (0..<30).map { UInt8($0) }

    /// The progress of a reader that uses complete frames of ten bytes.
    private func progress(_ held: borrowing HeldBytes) -> FrameProgress {
        let end = held.start + (held.bytes.count - held.start) / 10 * 10
        return FrameProgress(end: end, needed: end < held.bytes.count ? 10 : 0)
    }

    @Test("a partial frame waits for its end, and is overdue if that does not come in time")
    func cut() {
        var inlet = Inlet()
        inlet.keep(
            frame.span.extracting(0..<14), after: FrameProgress(end: 10, needed: 10), at: 100)
        let (count, isReady) = (inlet.heldByteCount, inlet.isReady)
        #expect(count == 4 && !isReady)
        let (isEarly, isLate) = (
            inlet.isOverdue(at: 149, after: 50), inlet.isOverdue(at: 150, after: 50)
        )
        #expect(!isEarly && isLate)
        let end = inlet.complete(from: frame.span.extracting(14..<30), at: 0)
        #expect(end == 6)
        let held = inlet.take()
        let isWhole = held.bytes == Array(10..<20)
        #expect(isWhole)
        inlet.restore(held, after: FrameProgress(end: 10), at: 160)
        let isOver = !inlet.isOverdue(at: 900, after: 50)
        #expect(isOver)
    }

    @Test("the deadline of a partial frame counts from its first byte")
    func slowHeader() {
        var inlet = Inlet()
        inlet.keep(frame.span.extracting(0..<4), after: FrameProgress(end: 0, needed: 10), at: 100)
        let end = inlet.complete(from: frame.span.extracting(4..<10), at: 0)
        #expect(end == 6)
        // The header names a body, so the reader uses nothing and needs more.
        let header = inlet.take()
        inlet.restore(header, after: FrameProgress(end: 0, needed: 20), at: 140)
        let (isEarly, isLate) = (
            inlet.isOverdue(at: 149, after: 50), inlet.isOverdue(at: 150, after: 50)
        )
        #expect(!isEarly && isLate)
    }

    @Test("a paused connection keeps all bytes, and reports for how long")
    func paused() {
        var inlet = Inlet()
        let isNew = inlet.pause()
        let isRepeated = inlet.pause()
        #expect(isNew && !isRepeated)
        inlet.hold(frame.span.extracting(0..<12), at: 100)
        inlet.hold(frame.span.extracting(12..<25), at: 130)
        let isOverdue = inlet.isOverdue(at: 10_000, after: 50)
        #expect(!isOverdue, "the client is not to blame for what is not read")
        inlet.resume()
        let held = inlet.takeHeldBack(at: 200)
        let heldFor = inlet.heldFor
        #expect(heldFor == 70)
        let after = progress(held)
        inlet.restore(held, after: after, at: 200)
        let (count, none) = (inlet.heldByteCount, inlet.heldFor)
        #expect(count == 5 && none == 0)
        let isOverdueNow = inlet.isOverdue(at: 250, after: 50)
        #expect(isOverdueNow)
    }

    @Test("a connection has its share of a turn once, and the next turn gives it another")
    func share() {
        var inlet = Inlet()
        var spent: [Int] = []
        for index in 0..<5 where inlet.countFrame(in: 7, framesMax: 3) { spent.append(index) }
        #expect(spent == [2])
        for index in 0..<5 where inlet.countFrame(in: 8, framesMax: 3) { spent.append(index) }
        #expect(spent == [2, 2])
    }

    @Test("a resting connection is not resumed until it wakes")
    func rests() {
        var inlet = Inlet()
        let wasReading = inlet.rest()
        let isPaused = inlet.pause()
        #expect(wasReading && !isPaused)
        inlet.wake()
        let state = inlet.state
        #expect(state == .paused)
        let wasPaused = !inlet.rest()
        #expect(wasPaused)
    }

    @Test("handled frames are counted, and a cleared inlet holds nothing")
    func clear() {
        var inlet = Inlet()
        inlet.advance(30)
        inlet.advance(12)
        inlet.keep(frame.span, after: FrameProgress(end: 20, needed: 20), at: 1)
        inlet.clear()
        let (used, isEmpty) = (inlet.usedByteCount, inlet.isEmpty)
        #expect(used == 42 && isEmpty)
        let (isNew, isRepeated) = (inlet.end(), inlet.end())
        #expect(isNew && !isRepeated)
    }
}
