import ReactorBytes
import Testing

@Suite("words in bytes")
struct ByteWordsTests {
    @Test("a word read at every place and length equals its bytes")
    func readsWords() {
        let bytes = (0..<20).map { UInt8($0 * 11) }
        for start in 0...20 {
            for byteCount in 0...min(8, 20 - start) {
                var expected: UInt64 = 0
                for index in (0..<byteCount).reversed() {
                    expected = expected << 8 | UInt64(bytes[start + index])
                }
                #expect(ByteWords.word(in: bytes.span, at: start, byteCount: byteCount) == expected)
            }
        }
    }

    @Test("bytes are appended unchanged, also none")
    func copies() {
        let bytes: [UInt8] = [1, 2, 3, 4]
        var target: [UInt8] = [9]
        ByteWords.append(bytes.span, 1..<3, to: &target)
        ByteWords.append(bytes.span, 2..<2, to: &target)
        #expect(target == [9, 2, 3])
    }
}
