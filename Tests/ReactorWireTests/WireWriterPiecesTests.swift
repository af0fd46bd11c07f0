import ReactorBytes
import Testing

@testable import ReactorWire

@Suite("Encodings in pieces")
struct WireWriterPiecesTests {
    /// What `body` writes, put together from pieces of about `byteCount` bytes, and their number.
    private func joined(
        _ byteCount: Int, _ body: (inout WireWriter) -> Void
    ) -> (bytes: [UInt8], count: Int) {
        var (bytes, count): ([UInt8], Int) = ([], 0)
        WireWriter.pieces(of: byteCount, body) { piece in
            bytes.append(contentsOf: piece, 0..<piece.count)
            count += 1
        }
        return (bytes, count)
    }

    @Test("pieces of any size are the same bytes as the whole, and a count is their number")
    func random() {
        for start in Seed.starts(300) {
            var random = RandomValue(start)
            let value = random.value(depth: 5)
            let whole = value.wireBytes()
            for byteCount in [1, 7, 64, 300] {
                let pieces = joined(byteCount) { value.encode(into: &$0) }
                #expect(pieces.bytes == whole, "seed \(start), pieces of \(byteCount)")
            }
            #expect(WireWriter.byteCount { value.encode(into: &$0) } == whole.count)
            let sum = WireChecksum.of { value.encode(into: &$0) }
            #expect(sum.value == WireChecksum(of: whole.span).value)
            #expect(sum.byteCount == whole.count)
        }
    }

    @Test("a piece is about as large as asked for, and a larger text is passed on as it is")
    func sizes() {
        let text = String(repeating: "x", count: 10_000)
        var counts: [Int] = []
        WireWriter.pieces(
            of: 100,
            { writer in
                for number in 0..<1_000 as Range<UInt64> { writer.unsigned(number) }
                writer.text(text)
                writer.bool(true)
            }, to: { counts.append($0.count) })
        #expect(counts.filter { $0 > 200 } == [10_000])
        #expect(counts.count > 20 && counts.last == 1)
    }

    @Test(
        "a byte string of what a function appends has its length in front, also in pieces",
        arguments: [0, 5, 23, 24, 300, 70_000, 600_000])
    func byteStrings(_ byteCount: Int) {
        func write(_ writer: inout WireWriter) {
            writer.text("before")
            writer.byteString { inner in
                inner.byteString { core in
                    for index in 0..<byteCount { core.byte(UInt8(truncatingIfNeeded: index)) }
                }
            }
        }
        let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0) }
        var expected = WireWriter()
        expected.text("before")
        expected.byteString(bytes.wireBytes().span)
        #expect(joined(128) { write(&$0) }.bytes == expected.bytes)
        #expect(WireWriter.byteCount { write(&$0) } == expected.count)
        #expect(WireWriter.bytes { write(&$0) }.bytes == expected.bytes)
    }

    @Test("a large encoding is made in a second pass, and has the same bytes")
    func large() {
        for byteCount in [WireWriter.wholeByteCountMax - 10, 3 * WireWriter.wholeByteCountMax] {
            var passes = 0
            let made = WireWriter.bytes { writer in
                passes += 1
                for index in 0..<(byteCount / 8) { writer.word(UInt64(index), byteCount: 8) }
            }
            let bytes = made.bytes ?? []
            #expect(bytes.count == byteCount / 8 * 8 && made.byteCount == bytes.count)
            #expect(passes == (byteCount > WireWriter.wholeByteCountMax ? 2 : 1))
            #expect(bytes[8 * 300] == 44 && bytes[8 * 300 + 1] == 1)
        }
    }

    @Test("an encoding of more bytes than allowed is omitted, and its size is known")
    func omitted() {
        for byteCount in [100, 2 * WireWriter.wholeByteCountMax] {
            func write(_ writer: inout WireWriter) {
                for _ in 0..<byteCount { writer.byte(1) }
            }
            let omitted = WireWriter.bytes(atMost: byteCount - 1) { write(&$0) }
            #expect(omitted.bytes == nil && omitted.byteCount == byteCount)
            #expect(WireWriter.bytes(atMost: byteCount) { write(&$0) }.bytes?.count == byteCount)
        }
    }

    @Test("counted bytes can be removed again, and the writer then keeps what follows")
    func truncated() {
        var writer = WireWriter(to: ByteSink(keepingAtMost: 10))
        for _ in 0..<200 { writer.byte(1) }
        #expect(writer.count == 200 && writer.hasPassedOn)
        writer.truncate(to: 20)
        #expect(writer.count == 20)
        writer.removeAll()
        #expect(writer.count == 0 && !writer.hasPassedOn)
        writer.byte(7)
        #expect(writer.bytes == [7])
    }
}
