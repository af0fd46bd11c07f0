import ReactorWire
import Testing

struct WireChecksumTests {
    // [WIRE-11-4]
    @Test(
        "W31: the checksum is FNV-1a with 64 bits, equal to other implementations",
        arguments: [
            ("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8),
        ] as [(String, UInt64)])
    func known(_ text: String, _ expected: UInt64) {
        let bytes = Array(text.utf8)
        #expect(WireChecksum(of: bytes.span).value == expected)
        var whole = WireChecksum()
        for byte in bytes { whole.add(byte) }
        #expect(whole == WireChecksum(of: bytes.span))
    }

    @Test("every single bit changes the checksum")
    func bits() {
        let bytes = [UInt8](repeating: 0x5a, count: 40)
        var sums: Set = [WireChecksum(of: bytes.span)]
        for bit in 0..<320 {
            var other = bytes
            other[bit / 8] ^= 1 << UInt8(bit % 8)
            sums.insert(WireChecksum(of: other.span))
        }
        #expect(sums.count == 321)
    }
}
