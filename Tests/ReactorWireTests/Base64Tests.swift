import Testing

@testable import ReactorWire

@Suite("Base64")
struct Base64Tests {
    private func text(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        Base64.append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    @Test(
        "the examples of RFC 4648 are encoded and decoded",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
        ])
    func examples(plain: String, encoded: String) {
        #expect(text(Array(plain.utf8)) == encoded)
        #expect(Base64.bytes(encoded.utf8) == Array(plain.utf8))
    }

    @Test("any bytes survive a round trip through text")
    func roundTrip() {
        for start in Seed.starts(500) {
            var seed = Seed(start)
            let bytes = (0..<seed.below(40)).map { _ in UInt8(truncatingIfNeeded: seed.next()) }
            #expect(Base64.bytes(text(bytes).utf8) == bytes, "seed \(start)")
        }
        #expect(text([0xfb, 0xff, 0xfe]) == "+//+")
    }

    @Test(
        "text that is not the canonical form of its bytes is refused",
        arguments: [
            "A", "AA", "AAA", "A===", "====", "AB==", "AAB=", "AA=A", "AA==AA==", "A-==", "A_==",
            " AA=", "é=",
        ])
    func refused(encoded: String) {
        #expect(Base64.bytes(encoded.utf8) == nil)
    }
}
