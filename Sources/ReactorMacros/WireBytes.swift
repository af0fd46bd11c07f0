/// A name as it stands on the wire: text, compared by its UTF-8 bytes.
struct WireBytes: Hashable {
    var utf8: [UInt8]
    var text: String

    /// Makes the name of an identifier, which may stand in backticks.
    init(_ text: String) {
        self.text = text
        utf8 = Array(text.utf8)
    }

    /// The name with its CBOR head.
    var item: [UInt8] { cborHead(major: 3, utf8.count) + utf8 }

    /// The order of encoded keys: the shorter first, then by bytes (RFC 8949, section 4.2.1).
    static func precedes(_ left: WireBytes, _ right: WireBytes) -> Bool {
        left.item.count != right.item.count
            ? left.item.count < right.item.count
            : left.item.lexicographicallyPrecedes(right.item)
    }

    static func == (left: WireBytes, right: WireBytes) -> Bool { left.utf8 == right.utf8 }

    func hash(into hasher: inout Hasher) { hasher.combine(utf8) }
}

/// The head of a CBOR item with a length or count, in its shortest form.
func cborHead(major: UInt8, _ count: Int) -> [UInt8] {
    let top = major << 5
    switch count {
    case ..<24: return [top | UInt8(count)]
    case ..<0x100: return [top | 24, UInt8(count)]
    default: return [top | 25, UInt8(count >> 8 & 0xff), UInt8(count & 0xff)]
    }
}

/// Up to eight bytes as the hexadecimal literal of the little-endian number they make.
func wordLiteral(_ bytes: some Collection<UInt8>) -> String {
    var word: UInt64 = 0
    for byte in bytes.reversed() { word = word << 8 | UInt64(byte) }
    return "0x" + String(word, radix: 16)
}

/// Splits `bytes` into words of eight bytes and a rest, with the offset of each.
func words(_ bytes: [UInt8]) -> [(offset: Int, bytes: ArraySlice<UInt8>)] {
    stride(from: 0, to: bytes.count, by: 8).map { start in
        (start, bytes[start..<min(start + 8, bytes.count)])
    }
}

/// A call that moves the cursor past `bytes` if they are next; nothing if they are too many.
func takesCall(_ bytes: [UInt8]) -> String? {
    guard (1...24).contains(bytes.count) else { return nil }
    // because the last word may overlap the one before it: whole words are compared
    var literals = stride(from: 0, to: max(bytes.count - 8, 0), by: 8).map { start in
        wordLiteral(bytes[start..<start + 8])
    }
    literals.append(wordLiteral(bytes.suffix(8)))
    return "cursor.takes(\(literals.joined(separator: ", ")), byteCount: \(bytes.count), in: bytes)"
}

/// Statements of an `encode(into:)`: constant bytes are gathered and written eight at a time.
struct ConstantWriter {
    private(set) var lines: Lines = []
    private var pending: [UInt8] = []
    private var comment = ""

    /// Adds bytes known now; `text` is how a reader would write them.
    mutating func constant(_ bytes: [UInt8], _ text: String) {
        pending += bytes
        comment += text
    }

    /// Adds a name that a value follows.
    mutating func key(_ name: WireBytes) { constant(name.item, "\"\(name.text)\":") }

    /// Adds a statement that writes a value known at run time.
    mutating func value(_ expression: String) {
        flush()
        lines.append("\(expression).encode(into: &writer)")
    }

    /// Writes the constant bytes that are still pending.
    mutating func flush() {
        var isFirst = true
        while !pending.isEmpty {
            let word = wordLiteral(pending.prefix(8))
            let rest = pending.dropFirst(8).prefix(8)
            let count = min(pending.count, 16)
            let line =
                rest.isEmpty
                ? "writer.word(\(word), byteCount: \(count))"
                : "writer.words(\(word), \(wordLiteral(rest)), byteCount: \(count))"
            lines += isFirst ? commented(line, comment) : [line]
            pending.removeFirst(count)
            isFirst = false
        }
        comment = ""
    }
}
