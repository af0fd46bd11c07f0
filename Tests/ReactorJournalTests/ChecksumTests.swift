import Testing

@testable import ReactorJournal

@Suite("Checksums")
struct ChecksumTests {
    @Test("the checksum on disk is XXH3 with 64 bits")
    func golden() {
        // The library's own values: of no bytes without a seed, and of words.
        #expect(Checksum.of([UInt8]().span, behind: 0) == 0x2D06_8005_38D3_94C2)
        #expect(
            Checksum.of([1, 2], behind: 3)
                == Checksum.of([1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0].span, behind: 3))
    }

    @Test("the checksum of pieces is that of the whole, however they are cut")
    func pieces() {
        let bytes = (0..<3_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for byteCount in [0, 1, 8, 240, 241, 256, 1_000, 3_000] {
            for pieceByteCount in [1, 7, 256, 999] {
                let sum = ChecksumInPieces(behind: 5)
                for start in stride(from: 0, to: byteCount, by: pieceByteCount) {
                    sum.add(bytes.span.extracting(start..<min(byteCount, start + pieceByteCount)))
                }
                let whole = Checksum.of(bytes.span.extracting(0..<byteCount), behind: 5)
                #expect(sum.value == whole, "\(byteCount) bytes in pieces of \(pieceByteCount)")
            }
        }
    }

    @Test("a row's checksum depends on every field, every byte and the row before")
    func row() {
        let row = JournalRow(
            number: 1, epoch: 2, after: 3, sequence: 4, time: 5, deltas: [6, 7], facts: [8],
            chain: 0)
        var others = Array(repeating: row, count: 8)
        others[0].number += 1
        others[1].epoch += 1
        others[2].after += 1
        others[3].sequence += 1
        others[4].time += 1
        others[5].deltas[1] += 1
        others[6].facts[0] += 1
        others[7].deltas = [6]
        others[7].facts = [7, 8]
        let sums = ([row] + others).map { $0.expectedChain(behind: 9) }
        #expect(Set(sums + [row.expectedChain(behind: 10)]).count == 10)
    }
}
