/// Base64 with the standard alphabet and padding (RFC 4648, section 4), for bytes in JSON and in a
/// configuration.
package enum Base64 {
    private static let digits = [UInt8](
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Appends the digits of `bytes` to `text`.
    static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        var index = 0
        while index < bytes.count {
            let group = min(3, bytes.count - index)
            var word: UInt32 = 0
            for place in 0..<group {
                word |= UInt32(bytes[index + place]) << UInt32(16 - 8 * place)
            }
            for place in 0..<4 {
                let digit = digits[Int(word >> UInt32(18 - 6 * place) & 0x3f)]
                text.append(place <= group ? digit : UInt8(ascii: "="))
            }
            index += 3
        }
    }

    /// The bytes that `text` encodes; `nil` if it is not the canonical encoding of any bytes.
    package static func bytes(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var word: UInt32 = 0
        var bitCount = 0
        for character in text.dropLast(padding) {
            guard let digit = digit(character) else { return nil }
            word = word << 6 | digit
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(bitCount)))
            }
        }
        // Set bits beyond the last byte would give the same bytes a second encoding.
        guard bitCount < 6, word & ((1 << UInt32(bitCount)) - 1) == 0 else { return nil }
        return bytes
    }

    private static func digit(_ character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character) - 97 + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character) - 48 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
