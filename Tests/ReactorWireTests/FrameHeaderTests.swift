import ReactorWire
import Testing

@Suite("The header of a frame")
struct FrameHeaderTests {
    /// Parses the header in `hex`, with bodies of up to `bytesMax` bytes.
    private func read(
        _ hex: String, bytesMax: Int = WireLimits.frameBytesMax
    ) throws(FrameError) -> FrameHeader? {
        let bytes = [UInt8](hex: hex)
        return try FrameHeader.decode(bytes.span, at: 0, frameBytesMax: bytesMax)
    }

    private func condition(_ hex: String) -> FrameError.Condition? {
        do throws(FrameError) {
            _ = try read(hex)
            return nil
        } catch {
            return error.condition
        }
    }

    private let rest = "00000000 0000000000000000"

    // [WIRE-2-1]
    @Test("every field is at its offset, little-endian")
    func layout() throws {
        let header = try read("44332200 0a 3f 0000 78563412 f0debc9a78563412", bytesMax: .max)
        #expect(
            header
                == FrameHeader(
                    length: 0x0022_3344, kind: .ping,
                    flags: [.more, .fresh, .absent, .options, .structural, .patch], id: 0x1234_5678,
                    number: 0x1234_5678_9abc_def0))
    }

    @Test("W3: the maximum length is accepted, and one more is refused from the header alone")
    func longest() throws {
        #expect(try read("00001000 0a 00 0000 \(rest)")?.length == 1 << 20)
        #expect(
            condition("01001000 0a 00 0000 \(rest)")
                == .tooLong(length: 1 << 20 + 1, max: 1 << 20))
    }

    @Test("W4: extreme lengths do not trap")
    func extremes() throws {
        #expect(try read("00000000 0a 00 0000 \(rest)")?.length == 0)
        for hex in ["ffffffff", "00000080", "ffffff7f"] {
            guard case .tooLong = condition("\(hex) 0a 00 0000 \(rest)") else {
                Issue.record("length \(hex) was accepted")
                continue
            }
        }
    }

    @Test("W20: each unknown flag and each reserved bit is refused")
    func reserved() {
        for bit in 7..<8 {
            let flags = [UInt8(1 << bit)].hex
            #expect(condition("00000000 0a \(flags) 0000 \(rest)") == .reservedBits)
        }
        for bit in 0..<16 {
            let word = UInt16(1) << UInt16(bit)
            let bytes = [UInt8(truncatingIfNeeded: word), UInt8(word >> 8)]
            #expect(condition("00000000 0a 00 \(bytes.hex) \(rest)") == .reservedBits)
        }
    }

    @Test("W2: a header is read at any offset, and only once it is complete")
    func offsets() throws {
        let header = FrameHeader(length: 3, kind: .mark, id: 9, number: 7)
        var writer = WireWriter()
        writer.raw([1, 2, 3])
        writer.header(header)
        let bytes = writer.bytes
        #expect(try FrameHeader.decode(bytes.span, at: 3, frameBytesMax: 16) == header)
        for offset in 4...bytes.count {
            #expect(try FrameHeader.decode(bytes.span, at: offset, frameBytesMax: 16) == nil)
        }
    }

    // [WIRE-2-4]
    @Test("W20: the error of a bad header names the frame's offset")
    func errorOffset() {
        for header in ["00000000 0a 80 0000", "00000000 0a 00 0100", "ffffffff 0a 00 0000"] {
            let bytes = [1, 2, 3] + [UInt8](hex: (header + rest).filter { $0 != " " })
            let error = #expect(throws: FrameError.self) {
                try FrameHeader.decode(bytes.span, at: 3, frameBytesMax: 16)
            }
            #expect(error?.offset == 3, "\(header)")
        }
    }

    @Test("an error names the offset and the problem")
    func description() {
        #expect(
            FrameError(.tooLong(length: 9, max: 8), at: 4).description
                == "frame at byte 4: length 9 exceeds frameBytesMax 8")
        #expect(
            FrameError(.unknownKind(0x7f), at: 0).description
                == "frame at byte 0: unknown kind 127")
        #expect(
            FrameError(.reservedBits, at: 6).description
                == "frame at byte 6: reserved bits are set")
    }
}
