import Testing

@testable import ReactorCore

@Suite("DeltaBuffer")
struct DeltaBufferTests {
    @Test("frames follow each other, and a dropped one leaves no byte")
    func frames() throws {
        var buffer = DeltaBuffer(capacity: 64)
        buffer.beginDelta(3, 9, .daemon)
        buffer.writer.text("kept")
        let first = buffer.endDelta()
        let firstCount = buffer.writer.count
        #expect(first.start == 0 && first.end == firstCount)
        buffer.beginDelta(4, 10, .daemon)
        buffer.writer.text("dropped")
        let (frameByteCount, secondCount) = (buffer.frameByteCount, buffer.writer.count)
        #expect(frameByteCount == secondCount - firstCount)
        buffer.drop()
        let droppedCount = buffer.writer.count
        #expect(droppedCount == firstCount)
        buffer.beginDelta(5, 10, flags: .structural, .daemon)
        let second = buffer.endDelta()
        let bytes = buffer.writer.bytes
        let header = try FrameHeader.decode(
            bytes.span, at: second.start, frameBytesMax: 1_000)
        #expect(header?.id == 5 && header?.number == 10 && header?.flags == .structural)
        #expect(second.start == first.end && second.end == bytes.count)
    }

    @Test("measuring a mutation writes nothing")
    func measure() {
        var buffer = DeltaBuffer(capacity: 0)
        let byteCount = buffer.measure { Tally.Mutation.added(5).encode(into: &$0) }
        let written = buffer.writer.count
        #expect(byteCount == Tally.Mutation.added(5).wireBytes().count && written == 0)
    }

    @Test("bytes that a roll-back or the next turn removes belong to no frame")
    func invariants() {
        var buffer = DeltaBuffer(capacity: 64)
        buffer.beginDelta(3, 9, .daemon)
        let first = buffer.endDelta()
        buffer.beginDelta(4, 10, .daemon)
        _ = buffer.endDelta()
        buffer.truncate(to: first.end)
        let (kept, holdsAfterRollBack) = (buffer.byteCount, buffer.invariants())
        #expect(kept == first.end && holdsAfterRollBack)
        buffer.truncate(to: 0)
        buffer.removeAll(keepingAtMost: 0)
        let (left, holds) = (buffer.byteCount, buffer.invariants())
        #expect(left == 0 && holds)
        // Inlined code writes past the organ; what it must not do is remove.
        buffer.beginDelta(5, 11, .daemon)
        buffer.beginDelta(6, 12, .daemon)
        buffer.writer.truncate(to: 0)
        let isBroken = !buffer.invariants()
        #expect(isBroken)
    }
}
