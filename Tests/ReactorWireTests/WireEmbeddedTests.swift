import ReactorWire
import Testing

@Suite("A value that is carried without being understood")
struct WireEmbeddedTests {
    @Test("its bytes are copied as they are, in whatever form they came")
    func verbatim() throws {
        for hex in ["1800", "9f01ff", "a1616101", "c11a514b67b0", "7f61616162ff"] {
            let embedded = try WireEmbedded(wireBytes: [UInt8](hex: hex))
            #expect(embedded.bytes.hex == hex)
            #expect(embedded.wireBytes().hex == hex)
        }
    }

    // [WIRE-3-1]
    @Test("before it travels on it takes the form that the daemon writes")
    func normalized() throws {
        for (hex, told) in [("1800", "00"), ("9f01ff", "8101"), ("c11a514b67b0", "1a514b67b0")] {
            #expect(try WireEmbedded(wireBytes: [UInt8](hex: hex)).normalized.bytes.hex == told)
        }
        let plain = WireEmbedded(["a": [1, 2]])
        #expect(plain.normalized == plain)
    }

    @Test("it ends where the value does")
    func end() throws {
        let bytes = [UInt8](hex: "83010203f6")
        var cursor = WireCursor()
        #expect(try WireEmbedded.decode(bytes.span, &cursor).bytes.hex == "83010203")
        #expect(cursor.offset == 4)
    }

    @Test("W10: what is not well-formed is not carried")
    func malformed() {
        for hex in ["", "18", "ff", "1c", "9f01", "61ff", "a10101ff"] {
            #expect(throws: WireError.self, "\(hex)") {
                try WireEmbedded(wireBytes: [UInt8](hex: hex))
            }
        }
    }

    @Test("it is read as the type that it was made of")
    func decode() throws {
        #expect(try WireEmbedded(["a": 1]).decode(as: [String: Int].self) == ["a": 1])
        #expect(throws: WireError.self) { try WireEmbedded("a").decode(as: Int.self) }
    }
}
