import ReactorWire
import Testing

@Suite("Encoding")
struct WireWriterTests {
    @Test(
        "a head has the shortest of the five forms, on both sides of each limit",
        arguments: [
            (0, "00"), (23, "17"), (24, "1818"), (255, "18ff"), (256, "190100"), (65_535, "19ffff"),
            (65_536, "1a00010000"), (0xffff_ffff, "1affffffff"),
            (0x1_0000_0000, "1b0000000100000000"),
            (.max, "1bffffffffffffffff"),
        ] as [(UInt64, String)])
    func heads(argument: UInt64, hex: String) {
        for major: UInt8 in 0...7 {
            var writer = WireWriter(capacity: 0)
            writer.head(major: major, argument)
            var expected = [UInt8](hex: hex)
            expected[0] |= major << 5
            #expect(writer.bytes == expected)
        }
    }

    @Test("bytes survive the growth of the buffer")
    func growth() {
        for start in Seed.starts(50) {
            var seed = Seed(start)
            var writer = WireWriter(capacity: 0)
            var model: [UInt8] = []
            for _ in 0..<40 {
                let piece = (0..<seed.below(seed.oneIn(5) ? 3_000 : 20)).map { UInt8($0 & 0xff) }
                switch seed.below(4) {
                case 0:
                    writer.raw(piece)
                    model += piece
                case 1:
                    writer.byte(7)
                    model.append(7)
                case 2:
                    writer.word(0x0807_0605_0403_0201, byteCount: seed.start == 0 ? 0 : 5)
                    model += [1, 2, 3, 4, 5]
                default:
                    writer.reserve(seed.below(5_000))
                    let kept = seed.below(model.count + 1)
                    writer.truncate(to: kept)
                    model.removeLast(model.count - kept)
                }
            }
            #expect(writer.bytes == model, "seed \(start)")
            #expect(writer.count == model.count, "seed \(start)")
            #expect(writer.withBytes { $0.count } == model.count, "seed \(start)")
        }
    }

    @Test("a cleared writer starts again with the same capacity")
    func forgetting() {
        var writer = WireWriter(capacity: 0)
        writer.text("abc")
        #expect(writer.bytes == [0x63, 0x61, 0x62, 0x63])
        writer.removeAll()
        #expect(writer.count == 0)
        writer.unsigned(5)
        #expect(writer.bytes == [5])
        writer.removeAll()
        #expect(writer.bytes == [])
    }

    @Test("a byte string of appended bytes equals one of the same bytes")
    func byteStringInPlace() {
        for count in [0, 1, 23, 24, 255, 256, 65_535, 65_536, 100_000] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            var writer = WireWriter(capacity: 0)
            var model = WireWriter()
            for _ in 0..<2 {
                writer.byteString { $0.raw(bytes) }
                model.byteString(bytes.span)
            }
            #expect(writer.bytes == model.bytes, "\(count) bytes")
        }
    }

    @Test("four written bytes are patched in place, lowest first")
    func patching() {
        var writer = WireWriter()
        writer.raw([1, 2, 3, 4, 5, 6])
        writer.patch(0xaabb_ccdd, at: 1)
        #expect(writer.bytes == [1, 0xdd, 0xcc, 0xbb, 0xaa, 6])
    }
}
