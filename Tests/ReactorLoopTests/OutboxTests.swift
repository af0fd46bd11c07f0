import ReactorBytes
import Testing

@testable import ReactorLoop

@Suite struct OutboxTests {
    @Test("the bytes after the written ones wait, whatever the split", arguments: 0...6)
    func keepsTheRest(_ written: Int) {
        let slices: ByteSlices = [
            ByteSlice([1, 2]), ByteSlice([]), ByteSlice([9, 3, 4, 9], range: 1..<3),
            ByteSlice([5, 6]),
        ]
        var outbox = Outbox()
        outbox.append(slices, after: written)
        let rest = outbox.waiting.flatMap { $0.storage[$0.range] }
        #expect(rest == Array([1, 2, 3, 4, 5, 6].dropFirst(written)))
        #expect(outbox.waitingByteCount == 6 - written)
        #expect(outbox.waiting.allSatisfy { $0.count > 0 })
    }

    @Test("a finished request keeps only storage that is worth keeping")
    func givesRoomBack() {
        for (count, isKept) in [(10, true), (1_000, false)] {
            var outbox = Outbox()
            for _ in 0..<count { outbox.append(ByteSlices(ByteSlice([1])), after: 0) }
            outbox.startSending()
            #expect(outbox.sending.count == count && outbox.waiting.isEmpty)
            #expect(outbox.waitingByteCount == 0)
            outbox.finishSending()
            #expect(outbox.sending.isEmpty)
            #expect((outbox.sending.capacity > 0) == isKept)
        }
    }
}
