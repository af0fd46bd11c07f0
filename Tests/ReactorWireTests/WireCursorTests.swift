import ReactorWire
import Testing

@Suite("Decoding")
struct WireCursorTests {
    @Test("peeking at the next item does not move the cursor")
    func peeking() throws {
        let bytes: [UInt8] = [0xc0, 0x18, 0x64]
        let cursor = WireCursor()
        let head = try cursor.peek(in: bytes.span)
        #expect(head.major == 0 && head.argument == 100)
        #expect(cursor.offset == 0)
    }

    @Test("null is consumed only where it is the next item")
    func null() throws {
        for (hex, isNull, offset) in [
            ("f6", true, 1), ("c1f7", true, 2), ("c105", false, 0), ("05", false, 0),
        ] {
            var cursor = WireCursor()
            let bytes = [UInt8](hex: hex)
            #expect(try cursor.takeNull(in: bytes.span) == isNull)
            #expect(cursor.offset == offset)
        }
    }

    @Test(
        "containers yield their elements and release their level, with a count or a break",
        arguments: [
            "83010203", "9f010203ff",
        ])
    func containers(hex: String) throws {
        let bytes = [UInt8](hex: hex)
        var cursor = WireCursor()
        var items = try cursor.openArray(in: bytes.span)
        #expect(cursor.depthLeft == WireLimits.depthMax - 1)
        #expect(items.countHint <= bytes.count)
        var elements: [UInt64] = []
        while try cursor.nextElement(in: bytes.span, &items) {
            elements.append(try cursor.unsigned(in: bytes.span))
        }
        #expect(elements == [1, 2, 3])
        #expect(cursor.offset == bytes.count && cursor.depthLeft == WireLimits.depthMax)
    }

    @Test("names are ranges of the bytes, of definite length only")
    func names() throws {
        let bytes = [UInt8](hex: "a261610162626202")
        var cursor = WireCursor()
        var map = try cursor.openMap(in: bytes.span)
        var names: [String] = []
        while let name = try cursor.nextName(in: bytes.span, &map) {
            names.append(bytes.span.text(name))
            try cursor.skip(in: bytes.span)
        }
        #expect(names == ["a", "bb"])
        var other = WireCursor()
        #expect(throws: WireError(.mismatch(expected: "a name", got: "text"), at: 0)) {
            try other.name(in: [UInt8](hex: "7f6161ff").span)
        }
    }

    @Test(
        "a value of the wrong kind is refused with both kinds",
        arguments: [
            ("05", "an integer"), ("40", "bytes"), ("60", "text"), ("80", "an array"),
            ("a0", "a map"),
            ("f6", "null"), ("f7", "undefined"), ("f93c00", "a float"), ("ff", "a break"),
            ("f0", "a simple value"),
        ])
    func kinds(hex: String, kind: String) {
        #expect(throws: WireError(.mismatch(expected: "a bool", got: kind), at: 0)) {
            try Bool(wireBytes: [UInt8](hex: hex))
        }
    }

    @Test("W12: nested containers are skipped without recursion, and their counts are not trusted")
    func skipping() throws {
        let items = [
            "80", "a0", "9fff", "bfff", "8100", "a16000", "9f8100ff", "5fff", "7fff", "c100",
        ]
        let bytes = [UInt8](hex: "8a" + items.joined())
        var cursor = WireCursor()
        try cursor.skip(in: bytes.span)
        #expect(cursor.offset == bytes.count && cursor.depthLeft == WireLimits.depthMax)
    }
}
