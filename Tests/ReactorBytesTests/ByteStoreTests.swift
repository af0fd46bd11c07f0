import ReactorBytes
import Testing

@Suite("words in bytes")
struct ByteStoreTests {
    @Test("a word is stored lowest byte first, and nothing beside it is touched")
    func storesWord() {
        var bytes = [UInt8](repeating: 0xee, count: 10)
        ByteStore.store(0x0807_0605_0403_0201 as UInt64, into: &bytes, at: 1)
        #expect(bytes == [0xee, 1, 2, 3, 4, 5, 6, 7, 8, 0xee])
        ByteStore.store(0x0403_0201 as UInt32, into: &bytes, at: 6)
        #expect(bytes == [0xee, 1, 2, 3, 4, 5, 1, 2, 3, 4])
    }

    @Test("three words stand one behind the other")
    func storesThreeWords() {
        var bytes = [UInt8](repeating: 0, count: 24)
        ByteStore.store(1, 2, 3, into: &bytes, at: 0)
        #expect(bytes[0] == 1 && bytes[8] == 2 && bytes[16] == 3)
    }

    @Test("a shared array is copied before it is written to")
    func copiesOnWrite() {
        let original = [UInt8](repeating: 7, count: 8)
        var copy = original
        ByteStore.store(0 as UInt64, into: &copy, at: 0)
        #expect(original == [UInt8](repeating: 7, count: 8))
        #expect(copy == [UInt8](repeating: 0, count: 8))
    }

    @Test("a word read at every place and length equals its bytes")
    func readsWords() {
        let bytes = (0..<20).map { UInt8($0 * 11) }
        for start in 0...20 {
            for byteCount in 0...min(8, 20 - start) {
                var expected: UInt64 = 0
                for index in (0..<byteCount).reversed() {
                    expected = expected << 8 | UInt64(bytes[start + index])
                }
                #expect(ByteStore.word(in: bytes.span, at: start, byteCount: byteCount) == expected)
            }
        }
    }

    @Test("bytes are appended and stored as they are, none included")
    func copies() {
        let bytes: [UInt8] = [1, 2, 3, 4]
        var target: [UInt8] = [9]
        ByteStore.append(bytes.span, 1..<3, to: &target)
        ByteStore.append(bytes.span, 2..<2, to: &target)
        #expect(target == [9, 2, 3])
        ByteStore.store(bytes.span.extracting(3..<4), into: &target, at: 0)
        ByteStore.store(bytes.span.extracting(0..<0), into: &target, at: 3)
        #expect(target == [4, 2, 3])
    }
}
