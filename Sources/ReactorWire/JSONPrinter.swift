/// Appends JSON texts to a growing byte buffer.
struct JSONPrinter {
    var text: [UInt8] = []
    /// Spaces per level; `nil` for one line.
    var indent: Int?
    /// Whether to escape all characters beyond ASCII.
    var isASCII: Bool
    private var level = 0

    init(isPretty: Bool, isASCII: Bool) {
        indent = isPretty ? 2 : nil
        self.isASCII = isASCII
    }

    /// The printed text.
    var string: String { String(decoding: text, as: UTF8.self) }

    /// Appends `value`.
    mutating func print(_ value: WireValue) {
        switch value {
        case .null: append("null")
        case .bool(let value): append(value ? "true" : "false")
        case .integer(let value): append(value.description)
        case .float(let value):
            if value.isFinite {
                append(value.description)
            } else {
                wrap(JSONWrapper.float) { $0.quote(JSONFloat.text(value)) }
            }
        case .bytes(let value):
            wrap(JSONWrapper.bytes) { printer in
                printer.append("\"")
                Base64.append(value, to: &printer.text)
                printer.append("\"")
            }
        case .text(let value): quote(value)
        case .array(let elements):
            list("[", elements, "]") { printer, element in printer.print(element) }
        case .map(let map):
            if JSONWrapper.isNeeded(for: map) {
                wrap(JSONWrapper.map) { $0.pairs(map) }
            } else {
                pairs(map)
            }
        }
    }

    private mutating func pairs(_ map: WireMap) {
        list("{", map, "}") { printer, pair in
            printer.key(pair.key.text)
            printer.print(pair.value)
        }
    }

    /// Appends an object's key and its colon.
    mutating func key(_ key: String) {
        quote(key)
        append(indent == nil ? ":" : ": ")
    }

    // A reader takes a wrapper for one value, so it stays on one line.
    private mutating func wrap(_ key: WireKey, _ body: (inout JSONPrinter) -> Void) {
        append("{")
        self.key(key.text)
        body(&self)
        append("}")
    }

    /// Appends `elements` between brackets, each printed by `body`.
    mutating func list<Elements: Collection>(
        _ opening: String, _ elements: Elements, _ closing: String,
        _ body: (inout JSONPrinter, Elements.Element) -> Void
    ) {
        append(opening)
        level += 1
        var isFirst = true
        for element in elements {
            if !isFirst { append(",") }
            isFirst = false
            breakLine()
            body(&self, element)
        }
        level -= 1
        if !isFirst { breakLine() }
        append(closing)
    }

    private mutating func breakLine() {
        guard let indent else { return }
        append("\n")
        text.append(contentsOf: repeatElement(0x20, count: indent * level))
    }

    /// Appends `piece` as it is.
    mutating func append(_ piece: String) { text.append(contentsOf: piece.utf8) }

    /// Appends `piece` in quotation marks, escaping characters that act on a terminal.
    mutating func quote(_ piece: String) {
        append("\"")
        defer { append("\"") }
        if piece.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f && $0 != 0x22 && $0 != 0x5c }) {
            return append(piece)
        }
        for scalar in piece.unicodeScalars {
            switch scalar.value {
            case 0x22: append("\\\"")
            case 0x5c: append("\\\\")
            case 0x0a: append("\\n")
            case 0x0d: append("\\r")
            case 0x09: append("\\t")
            case 0x20..<0x7f: text.append(UInt8(scalar.value))
            default:
                if isASCII || scalar.value < 0x80 || scalar.actsOnTerminal {
                    escape(scalar)
                } else {
                    text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
                }
            }
        }
    }

    private mutating func escape(_ scalar: Unicode.Scalar) {
        for unit in UTF16.encode(scalar) ?? UTF16.encodedReplacementCharacter {
            let digits = String(unit, radix: 16)
            append("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
        }
    }
}

extension Unicode.Scalar {
    /// Whether a peer could mislead a reader with the scalar: a control (C0, C1, delete), a change
    /// of the direction of the text, a line break, or the byte order mark.
    var actsOnTerminal: Bool {
        switch value {
        case 0..<0x20, 0x7f..<0xa0, 0x61c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069, 0xfeff:
            true
        default: false
        }
    }
}
