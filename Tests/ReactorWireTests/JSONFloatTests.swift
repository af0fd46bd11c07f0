import Testing

@testable import ReactorWire

@Suite("Numbers without a form in JSON")
struct JSONFloatTests {
    @Test(
        "each such number has one text, which decodes to the same bits",
        arguments: [
            (0x7ff0_0000_0000_0000, "Infinity"), (0xfff0_0000_0000_0000, "-Infinity"),
            (0x7ff8_0000_0000_0000, "NaN"), (0xfff8_0000_0000_0000, "NaN:fff8000000000000"),
            (0x7ff0_0000_0000_0001, "NaN:7ff0000000000001"),
        ] as [(UInt64, String)])
    func texts(bits: UInt64, text: String) {
        #expect(JSONFloat.text(Double(bitPattern: bits)) == text)
        #expect(JSONFloat.number(text)?.bitPattern == bits)
    }

    @Test(
        "other texts are refused",
        arguments: [
            "", "nan", "inf", "+Infinity", "NaN:", "NaN:7ff8", "NaN:7FF8000000000001",
            "NaN:7ff80000000000010", "NaN:3ff0000000000000", "NaN:7ff0000000000000",
            "NaN:+ff8000000000001",
        ])
    func refused(text: String) {
        #expect(JSONFloat.number(text) == nil)
    }
}
