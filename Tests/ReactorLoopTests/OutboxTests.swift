import Testing

@testable import ReactorLoop

@Suite struct OutboxTests {
    @Test("what follows the bytes already written waits, whatever the split", arguments: 0...6)
    func keepsTheRest(_ written: Int) {
        let slices = [
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
}
