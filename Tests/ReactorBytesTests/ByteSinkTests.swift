import ReactorBytes
import Testing

@Suite("a buffer that passes its bytes on")
struct ByteSinkTests {
    @Test("the sink gets every byte once and in order, and the buffer counts them all")
    func passes() {
        for pieceByteCount in [0, 1, 16, 1_000] {
            var taken: [UInt8] = []
            var model: [UInt8] = []
            var buffer = ByteBuffer(
                to: ByteSink(pieces: pieceByteCount) { piece in
                    for index in piece.indices { taken.append(piece[index]) }
                })
            for step in 0..<300 {
                let bytes = (0..<(step % 41)).map { UInt8(truncatingIfNeeded: $0 &* step) }
                buffer.append(bytes.span)
                buffer.append(UInt8(truncatingIfNeeded: step))
                model += bytes + [UInt8(truncatingIfNeeded: step)]
                #expect(buffer.count == model.count && model.starts(with: taken))
            }
            buffer.finish()
            #expect(taken == model && buffer.passedByteCount == model.count)
        }
    }

    @Test("without a function the first bytes are kept, and more are only counted")
    func counts() {
        var buffer = ByteBuffer(to: ByteSink(keepingAtMost: 100))
        for number in 0..<100 as Range<UInt8> { buffer.append(number) }
        #expect(buffer.copy(0..<100) == Array(0..<100) && buffer.passedByteCount == 0)
        for _ in 0..<1_000 { buffer.append([1, 2, 3].span) }
        #expect(buffer.count == 3_100 && buffer.passedByteCount > 0)
        #expect(buffer.capacity < 1_000)
        buffer.truncate(to: 3_050)
        #expect(buffer.count == 3_050)
        buffer.truncate(to: 0)
        buffer.append(9)
        #expect(buffer.copy(0..<1) == [9] && buffer.passedByteCount == 0)
    }
}
