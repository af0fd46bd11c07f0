import ReactorWire
import Testing

@Suite("A plain frame")
struct PlainFrameTests {
    private func frame(_ flags: FrameFlags = [], body: Int = 3) -> [UInt8] {
        var writer = WireWriter()
        let start = writer.beginFrame(.delta, flags: flags, id: 7, number: 1 << 40)
        writer.raw([UInt8](repeating: 9, count: body))
        writer.endFrame(at: start)
        return writer.bytes
    }

    @Test("a plain frame decodes as with the general decoder, at any offset")
    func reads() throws {
        let bytes = [0, 0, 0] + frame()
        let plain = PlainFrame(.delta, in: bytes.span, at: 3, frameBytesMax: 100)
        let header = try FrameHeader.decode(bytes.span, at: 3, frameBytesMax: 100)
        #expect(plain != nil && header != nil)
        #expect(plain?.id == header?.id && plain?.number == header?.number)
        #expect(plain?.range == 23..<26)
    }

    @Test("another kind, flags, reserved bits, a truncated and a long frame are not plain")
    func refuses() {
        func isPlain(_ bytes: [UInt8], _ kind: FrameKind = .delta, max: Int = 100) -> Bool {
            PlainFrame(kind, in: bytes.span, at: 0, frameBytesMax: max) != nil
        }
        #expect(isPlain(frame()))
        #expect(!isPlain(frame(), .dispatch))
        #expect(!isPlain(frame(.structural)))
        #expect(!isPlain(frame(), max: 2))
        for count in 0..<23 { #expect(!isPlain(Array(frame()[..<count])), "\(count) bytes") }
        var reserved = frame()
        reserved[6] = 1
        #expect(!isPlain(reserved))
    }
}
