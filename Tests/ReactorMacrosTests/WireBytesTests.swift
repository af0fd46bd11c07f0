import Testing

@Suite("Names as bytes and words")
struct WireBytesTests {
    @Test("a head takes one byte up to 23, two up to 255, three above")
    func heads() {
        #expect(cborHead(major: 3, 23) == [0x77])
        #expect(cborHead(major: 3, 24) == [0x78, 24])
        #expect(cborHead(major: 5, 255) == [0xb8, 255])
        #expect(cborHead(major: 4, 256) == [0x99, 1, 0])
    }

    @Test("the first byte is the lowest of its word")
    func wordOrder() {
        #expect(wordLiteral([0x61, 0x62, 0x63]) == "0x636261")
        #expect(wordLiteral([]) == "0x0")
    }

    @Test("keys are in the order of their encoding, the shorter first")
    func order() {
        let names = ["b", "aa", "a", "Z", "\u{e9}", "z"].map(WireBytes.init)
        let sorted = names.sorted(by: WireBytes.precedes).map(\.text)
        #expect(sorted == ["Z", "a", "b", "z", "aa", "\u{e9}"])
    }

    @Test("names that Unicode regards as equal are different names")
    func byteExact() {
        #expect(WireBytes("\u{e9}") != WireBytes("e\u{301}"))
    }

    @Test("expected bytes are compared in whole words, of which the last may overlap")
    func takes() {
        let bytes = Array(UInt8(1)...25)
        #expect(takesCall(Array(bytes[..<3])) == "cursor.takes(0x30201, byteCount: 3, in: bytes)")
        #expect(
            takesCall(Array(bytes[..<9]))
                == "cursor.takes(0x807060504030201, 0x908070605040302, byteCount: 9, in: bytes)")
        #expect(
            takesCall(Array(bytes[..<24]))
                == "cursor.takes(0x807060504030201, 0x100f0e0d0c0b0a09, 0x1817161514131211, "
                + "byteCount: 24, in: bytes)")
        #expect(takesCall(bytes) == nil)
        #expect(takesCall([]) == nil)
    }

    @Test("constant bytes are collected across names and written before a value")
    func constants() {
        var writer = ConstantWriter()
        writer.constant([0xa1], "{")
        writer.key(WireBytes("increment"))
        writer.constant([0xa1], "{")
        writer.key(WireBytes("by"))
        writer.value("amount")
        writer.constant([0x80], "[]")
        writer.flush()
        #expect(
            writer.lines == [
                "// {\"increment\":{\"by\":",
                "writer.words(0x6d6572636e6969a1, 0x796262a1746e65, byteCount: 15)",
                "amount.encode(into: &writer)", "writer.word(0x80, byteCount: 1)  // []",
            ])
    }
}
