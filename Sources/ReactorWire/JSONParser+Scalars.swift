// Numbers and strings.

extension JSONParser {
    /// Reads a number: an integer, unless it has a fraction or an exponent.
    mutating func number() throws(JSONError) -> WireValue {
        let start = offset
        if peek == UInt8(ascii: "-") { offset += 1 }
        let firstDigit = offset
        try digits()
        if bytes[firstDigit] == UInt8(ascii: "0"), offset > firstDigit + 1 {
            offset = firstDigit + 1
            throw unexpected("no digit after a leading zero")
        }
        var isInteger = true
        if peek == UInt8(ascii: ".") {
            isInteger = false
            offset += 1
            try digits()
        }
        if peek == UInt8(ascii: "e") || peek == UInt8(ascii: "E") {
            isInteger = false
            offset += 1
            if peek == UInt8(ascii: "+") || peek == UInt8(ascii: "-") { offset += 1 }
            try digits()
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        return isInteger ? try integer(text, at: start) : try float(text, at: start)
    }

    private func integer(_ text: String, at start: Int) throws(JSONError) -> WireValue {
        // 38 digits fit an Int128, and no wire integer has more.
        guard text.utf8.count < 39, let number = Int128(text),
            let integer = WireInteger(exactly: number)
        else { throw error(.integerOutOfRange(text), at: start) }
        return .integer(integer)
    }

    private func float(_ text: String, at start: Int) throws(JSONError) -> WireValue {
        guard let number = Double(text), number.isFinite else {
            throw error(.floatOutOfRange(text), at: start)
        }
        return .float(number)
    }

    private mutating func digits() throws(JSONError) {
        let start = offset
        while peek >= UInt8(ascii: "0"), peek <= UInt8(ascii: "9") { offset += 1 }
        if offset == start { throw unexpected("a digit") }
    }

    /// Reads a string, from its quotation mark.
    mutating func string() throws(JSONError) -> String {
        offset += 1
        var run = offset
        var text: [UInt8] = []
        while offset < bytes.count {
            switch bytes[offset] {
            case UInt8(ascii: "\""):
                let rest = bytes[run..<offset]
                offset += 1
                if text.isEmpty { return String(decoding: rest, as: UTF8.self) }
                text.append(contentsOf: rest)
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                text.append(contentsOf: bytes[run..<offset])
                text.append(contentsOf: Array(String(try escape()).utf8))
                run = offset
            case 0..<0x20: throw unexpected("an escape for the control character")
            default: offset += 1
            }
        }
        throw unexpected("a quotation mark that ends the text")
    }

    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        let start = offset
        offset += 1
        let byte = peek
        guard byte == UInt8(ascii: "u") else {
            guard let scalar = Self.shortEscape(byte) else { throw unexpected("an escape") }
            offset += 1
            return scalar
        }
        let first = try hexDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xdc00, peek == UInt8(ascii: "\\"), offset + 1 < bytes.count,
            bytes[offset + 1] == UInt8(ascii: "u")
        else { throw error(.loneSurrogate, at: start) }
        offset += 1
        let second = try hexDigits()
        guard second >= 0xdc00, second < 0xe000,
            let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
        else { throw error(.loneSurrogate, at: start) }
        return scalar
    }

    private static func shortEscape(_ byte: UInt8) -> Unicode.Scalar? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): Unicode.Scalar(byte)
        case UInt8(ascii: "b"): "\u{8}"
        case UInt8(ascii: "f"): "\u{c}"
        case UInt8(ascii: "n"): "\n"
        case UInt8(ascii: "r"): "\r"
        case UInt8(ascii: "t"): "\t"
        default: nil
        }
    }

    /// Reads `u` and four hexadecimal digits.
    private mutating func hexDigits() throws(JSONError) -> UInt32 {
        offset += 1
        var value: UInt32 = 0
        for _ in 0..<4 {
            let digit = Character(Unicode.Scalar(peek)).hexDigitValue
            guard let digit else { throw unexpected("a hexadecimal digit") }
            value = value << 4 | UInt32(digit)
            offset += 1
        }
        return value
    }
}
