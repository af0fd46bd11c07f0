import Testing

@testable import ReactorWire

@Suite("Access to spans")
struct WireSpanTests {
    @Test("words are read lowest byte first, from 0 to 8 bytes")
    func words() {
        let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9]
        #expect(bytes.span.word(at: 0, byteCount: 0) == 0)
        #expect(bytes.span.word(at: 9, byteCount: 0) == 0)
        #expect(bytes.span.word(at: 1, byteCount: 3) == 0x04_0302)
        #expect(bytes.span.word(at: 1, byteCount: 8) == 0x0908_0706_0504_0302)
        #expect(bytes.span.wholeWord(at: 1) == 0x0908_0706_0504_0302)
        #expect([UInt8]().span.leadingWord == 0)
        #expect([UInt8]([0xab]).span.leadingWord == 0xab00_0000_0000_0000)
        #expect(bytes.span.leadingWord == 0x0102_0304_0506_0708)
    }

    @Test("equality, order and hash are by bytes, whatever their number")
    func comparisons() {
        for start in Seed.starts(2_000) {
            var seed = Seed(start)
            let count = seed.below(20)
            // A small alphabet gives long common prefixes.
            let left = (0..<count).map { _ in UInt8(seed.below(2)) * 0xff }
            var right = left
            if count > 0, !seed.oneIn(4) { right[seed.below(count)] ^= UInt8(seed.below(256)) }
            #expect(left.span.isEqual(to: right.span) == (left == right), "seed \(start)")
            #expect(
                left.span.precedes(right.span) == left.lexicographicallyPrecedes(right),
                "seed \(start)")
            let hashes = [left, right].map { $0.span.hash(of: 0..<count) }
            #expect((hashes[0] == hashes[1]) == (left == right), "seed \(start)")
        }
        // Zeros at the end must count as bytes.
        #expect([UInt8]([0]).span.hash(of: 0..<1) != [UInt8]([0, 0]).span.hash(of: 0..<2))
        #expect([UInt8]([0]).span.isEqual(to: [UInt8]([0, 0]).span) == false)
    }

    @Test("bytes are appended to an array's content")
    func appending() {
        let source: [UInt8] = [1, 2, 3, 4]
        var target: [UInt8] = [9]
        target.append(contentsOf: source.span, 1..<3)
        target.append(contentsOf: source.span, 2..<2)
        target.append(contentsOf: source.span, 0..<4)
        #expect(target == [9, 2, 3, 1, 2, 3, 4])
    }

    @Test("a name that is not text is shown with replacement characters")
    func names() {
        let bytes: [UInt8] = [0x62, 0x61, 0xff]
        #expect(bytes.span.text(WireName(start: 1, count: 2)) == "a\u{fffd}")
        #expect(bytes.span.isText(1..<3) == false)
        #expect(bytes.span.isText(1..<2) == true)
    }
}
