import ReactorBytes
import Testing

@Suite("a growing buffer")
struct ByteBufferTests {
    @Test("words are appended with the lowest byte first, in the requested length")
    func words() {
        var buffer = ByteBuffer(capacity: 0)
        buffer.append(0x0807_0605_0403_0201, byteCount: 3)
        buffer.append(0xaa)
        buffer.append(1, 2, byteCount: 9)
        buffer.append(3, 4, 5, byteCount: 17)
        let first: [UInt8] = [1, 2, 3, 0xaa, 1, 0, 0, 0, 0, 0, 0, 0, 2]
        let second: [UInt8] = [3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 5]
        #expect(buffer.copy(0..<buffer.count) == first + second)
    }

    @Test("appended bytes stay while the buffer grows, from any capacity")
    func grows() {
        for capacity in [0, 1, 7, 64, 100] {
            var buffer = ByteBuffer(capacity: capacity)
            var model: [UInt8] = []
            for step in 0..<500 {
                let bytes = (0..<(step % 13)).map { UInt8(truncatingIfNeeded: $0 &* step) }
                buffer.append(bytes.span)
                buffer.append(UInt64(step), byteCount: step % 9)
                model += bytes
                for index in 0..<(step % 9) {
                    model.append(UInt8(truncatingIfNeeded: UInt64(step) >> UInt64(8 * index)))
                }
            }
            #expect(buffer.copy(0..<buffer.count) == model, "capacity \(capacity)")
        }
    }

    @Test("the last bytes are moved before others, which keep their order")
    func moves() {
        for (byteCount, offset) in [(0, 3), (1, 0), (3, 2), (9, 0), (16, 1), (5, 15)] {
            var buffer = ByteBuffer(capacity: 20)
            var model = (0..<20).map { UInt8($0) }
            buffer.append(model.span)
            buffer.moveLast(byteCount, to: offset)
            let moved = model.suffix(byteCount)
            model.removeLast(byteCount)
            model.insert(contentsOf: moved, at: offset)
            #expect(buffer.copy(0..<20) == model, "\(byteCount) bytes to \(offset)")
        }
    }

    @Test("four bytes are patched in place, and the end is truncated")
    func patches() {
        var buffer = ByteBuffer(capacity: 8)
        buffer.append([1, 2, 3, 4, 5, 6].span)
        buffer.patch(0xaabb_ccdd, at: 1)
        #expect(buffer.copy(0..<6) == [1, 0xdd, 0xcc, 0xbb, 0xaa, 6])
        buffer.truncate(to: 2)
        buffer.append(9)
        #expect(buffer.withBytes { bytes in bytes.count } == 3)
        #expect(buffer.copy(1..<3) == [0xdd, 9])
    }

    @Test("bytes are copied into an array, whose other references keep their bytes")
    func copiesInto() {
        var buffer = ByteBuffer(capacity: 2)
        var array: [UInt8] = [9, 9, 9]
        let former = array
        for count in 0..<6 as Range<UInt8> {
            buffer.truncate(to: 0)
            for byte in 0..<count { buffer.append(byte) }
            buffer.copy(into: &array)
            #expect(array == Array(0..<count))
        }
        let kept = array
        buffer.append(7)
        buffer.copy(into: &array)
        #expect(former == [9, 9, 9] && kept == [0, 1, 2, 3, 4] && array == kept + [7])
        // As many bytes as before, with and without another reference to the former ones.
        for byte: UInt8 in 8..<10 {
            let shared = byte == 8 ? array : []
            buffer.truncate(to: 5)
            buffer.append(byte)
            buffer.copy(into: &array)
            #expect(array == kept + [byte] && (shared.isEmpty || shared == kept + [7]))
        }
    }

    @Test("an empty buffer returns an empty span")
    func empty() {
        let buffer = ByteBuffer(capacity: 0)
        #expect(buffer.withBytes { $0.count } == 0)
        #expect(buffer.copy(0..<0) == [])
    }
}
