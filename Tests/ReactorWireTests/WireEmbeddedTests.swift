import ReactorWire
import Testing

@Suite("Embedded values")
struct WireEmbeddedTests {
    @Test("an embedded value's bytes are copied unchanged, in any form")
    func verbatim() throws {
        for hex in ["1800", "9f01ff", "a1616101", "c11a514b67b0", "7f61616162ff"] {
            let embedded = try WireEmbedded(wireBytes: [UInt8](hex: hex))
            #expect(embedded.bytes.hex == hex)
            #expect(embedded.wireBytes().hex == hex)
        }
    }

    // [WIRE-3-1]
    @Test("before an embedded value is sent on, it is converted to the daemon's form")
    func normalized() throws {
        for (hex, told) in [("1800", "00"), ("9f01ff", "8101"), ("c11a514b67b0", "1a514b67b0")] {
            #expect(try WireEmbedded(wireBytes: [UInt8](hex: hex)).normalized.bytes.hex == told)
        }
        let plain = WireEmbedded(["a": [1, 2]])
        #expect(plain.normalized == plain)
    }

    @Test("an embedded value ends at the value's end")
    func end() throws {
        let bytes = [UInt8](hex: "83010203f6")
        var cursor = WireCursor()
        #expect(try WireEmbedded.decode(bytes.span, &cursor).bytes.hex == "83010203")
        #expect(cursor.offset == 4)
    }

    @Test("W10: malformed bytes are refused")
    func malformed() {
        for hex in ["", "18", "ff", "1c", "9f01", "61ff", "a10101ff"] {
            #expect(throws: WireError.self, "\(hex)") {
                try WireEmbedded(wireBytes: [UInt8](hex: hex))
            }
        }
    }

    @Test("an embedded value decodes as its original type")
    func decode() throws {
        #expect(try WireEmbedded(["a": 1]).decode(as: [String: Int].self) == ["a": 1])
        #expect(throws: WireError.self) { try WireEmbedded("a").decode(as: Int.self) }
    }
}
