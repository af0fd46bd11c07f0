import ReactorBytes
import ReactorWire
import Testing

@testable import ReactorServer

/// Recent deltas: which the ring contains, and how many bytes.
struct DeltaRingTests {
    private func batch(after: UInt64, _ ids: [UInt32]) -> Batch {
        var writer = WireWriter()
        for (index, id) in ids.enumerated() {
            writer.header(FrameHeader(kind: .delta, id: id, number: after + UInt64(index) + 1))
        }
        let sequence = after + UInt64(ids.count)
        return Batch(
            turn: sequence, epoch: 1, after: after, sequence: sequence,
            deltas: ByteSlice(writer.bytes), facts: [])
    }

    private func numbers(_ bytes: [UInt8]?) -> [UInt64]? {
        var offset = 0
        return bytes.map { TestClient.parse($0, from: &offset).map(\.number) }
    }

    @Test("the ring finds a node's frames after a sequence, in order, and no other node's")
    func frames() {
        let ring = DeltaRing(bytesMax: 10_000, searchBytesMax: 10_000)
        ring.keep(batch(after: 10, [1, 2, 1]))
        ring.keep(batch(after: 13, [2]))
        ring.keep(batch(after: 14, [1, 1]))
        #expect(numbers(ring.frames(of: 1, after: 11, upTo: 16)) == [13, 15, 16])
        #expect(numbers(ring.frames(of: 1, after: 10, upTo: 16)) == [11, 13, 15, 16])
        #expect(numbers(ring.frames(of: 3, after: 10, upTo: 16)) == [])
        #expect(numbers(ring.frames(of: 1, after: 16, upTo: 16)) == [])
        #expect(ring.frames(of: 1, after: 9, upTo: 16) == nil)
    }

    @Test("the oldest deltas go beyond the budget, and a search that reads too much finds nothing")
    func bounds() {
        let ring = DeltaRing(bytesMax: 1_500, searchBytesMax: 250)
        for step in 0..<100 as Range<UInt64> { ring.keep(batch(after: step, [1])) }
        #expect(ring.byteCount <= 1_500)
        #expect(ring.frames(of: 1, after: 50, upTo: 100) == nil)
        #expect(ring.frames(of: 1, after: 92, upTo: 100) == nil)
        #expect(numbers(ring.frames(of: 1, after: 97, upTo: 100)) == [98, 99, 100])
    }

    @Test("a lower limit drops the oldest deltas, and a higher one keeps more from then on")
    func limits() {
        let ring = DeltaRing(bytesMax: 10_000, searchBytesMax: 10_000)
        for step in 0..<100 as Range<UInt64> { ring.keep(batch(after: step, [1])) }
        ring.setLimits(bytesMax: 1_500, searchBytesMax: 10_000)
        #expect(ring.byteCount <= 1_500)
        #expect(ring.frames(of: 1, after: 0, upTo: 100) == nil)
        #expect(numbers(ring.frames(of: 1, after: 99, upTo: 100)) == [100])
        ring.setLimits(bytesMax: 0, searchBytesMax: 0)
        #expect(ring.byteCount == 0)
        ring.setLimits(bytesMax: 10_000, searchBytesMax: 10_000)
        for step in 100..<150 as Range<UInt64> { ring.keep(batch(after: step, [1])) }
        #expect(ring.frames(of: 1, after: 100, upTo: 150)?.isEmpty == false)
    }
}

extension DeltaRing {
    fileprivate func keep(_ batch: Batch) {
        keep(after: batch.after, sequence: batch.sequence, deltas: batch.deltas.storage.span)
    }
}
