/// Reads one JSON text (RFC 8259) into a ``WireValue``.
struct JSONParser {
    let bytes: [UInt8]
    var offset = 0

    /// A value, with its height in levels of arrays and maps.
    struct Parsed {
        var value: WireValue
        var height: Int
    }

    /// Maximum nesting of brackets: every level of a value may be inside a `$map`.
    static let bracketDepthMax = WireLimits.depthMax * 2 + 2

    /// Reads the whole text as one value.
    static func value(of bytes: [UInt8]) throws(JSONError) -> WireValue {
        var parser = JSONParser(bytes: bytes)
        try parser.checkText()
        let value = try parser.value(depth: 0).value
        parser.skipSpace()
        guard parser.offset == bytes.count else { throw parser.unexpected("the end of the text") }
        return value
    }

    private func checkText() throws(JSONError) {
        var place: Int?
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            place = error.byteOffsets.lowerBound
        }
        if let place { throw self.error(.invalidText, at: place) }
    }

    /// Reads a value inside `depth` brackets.
    mutating func value(depth: Int) throws(JSONError) -> Parsed {
        skipSpace()
        guard depth <= Self.bracketDepthMax else { throw error(.tooDeep, at: offset) }
        switch peek {
        case UInt8(ascii: "{"): return try interpreted(try object(depth: depth))
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return Parsed(value: .text(try string()), height: 0)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return Parsed(value: try number(), height: 0)
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: throw unexpected("a value")
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> Parsed {
        let start = offset
        offset += 1
        var elements: [WireValue] = []
        var height = 0
        if take(UInt8(ascii: "]")) { return Parsed(value: .array([]), height: 1) }
        repeat {
            let element = try value(depth: depth + 1)
            elements.append(element.value)
            height = max(height, element.height)
        } while try follows(closing: UInt8(ascii: "]"), expected: "\",\" or \"]\"")
        guard height < WireLimits.depthMax else { throw error(.tooDeep, at: start) }
        return Parsed(value: .array(elements), height: height + 1)
    }

    private mutating func word(_ word: String, _ value: WireValue) throws(JSONError) -> Parsed {
        for byte in word.utf8 {
            guard peek == byte else { throw unexpected("\"\(word)\"") }
            offset += 1
        }
        return Parsed(value: value, height: 0)
    }
}

// MARK: - Tokens
extension JSONParser {
    /// The next byte; 0, which starts no token, at the end.
    var peek: UInt8 { offset < bytes.count ? bytes[offset] : 0 }

    mutating func skipSpace() {
        while offset < bytes.count {
            switch bytes[offset] {
            case 0x20, 0x09, 0x0a, 0x0d: offset += 1
            default: return
            }
        }
    }

    /// Skips space, then `byte`. Returns whether `byte` was next.
    mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard offset < bytes.count, bytes[offset] == byte else { return false }
        offset += 1
        return true
    }

    /// Reads a comma or the closing bracket. Returns whether it was a comma.
    mutating func follows(closing: UInt8, expected: String) throws(JSONError) -> Bool {
        if take(UInt8(ascii: ",")) { return true }
        if take(closing) { return false }
        throw unexpected(expected)
    }

    /// An error about the next character.
    func unexpected(_ expected: String) -> JSONError {
        guard offset < bytes.count else {
            return error(.unexpectedEnd(expected: expected), at: offset)
        }
        let got = String(decoding: bytes[offset..<min(offset + 4, bytes.count)], as: UTF8.self)
        let first = got.unicodeScalars.first.map(String.init) ?? ""
        return error(.unexpected(first, expected: expected), at: offset)
    }

    /// An error at the offset `place`. *Cost*: counts the lines before it.
    func error(_ condition: JSONError.Condition, at place: Int) -> JSONError {
        var line = 1
        var column = 1
        for byte in bytes[..<min(place, bytes.count)] {
            if byte == 0x0a {
                line += 1
                column = 1
            } else if byte & 0xc0 != 0x80 {
                column += 1
            }
        }
        return JSONError(condition: condition, line: line, column: column)
    }
}
