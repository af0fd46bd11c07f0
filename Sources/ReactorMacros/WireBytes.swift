/// A name on the wire: text, compared by its UTF-8 bytes.
struct WireBytes: Hashable {
    var utf8: [UInt8]
    var text: String

    /// Makes the name of an identifier.
    init(_ text: String) {
        self.text = text
        utf8 = Array(text.utf8)
    }

    /// The name with its CBOR head.
    var item: [UInt8] { cborHead(major: 3, utf8.count) + utf8 }

    /// The order of encoded keys: shorter ones first, then by bytes (RFC 8949, section 4.2.1).
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

/// Up to eight bytes as a hexadecimal literal of their little-endian number.
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

/// A call that moves the cursor past `bytes` if they are the next bytes; `nil` if there are more
/// than 24.
func takesCall(_ bytes: [UInt8]) -> String? {
    guard (1...24).contains(bytes.count) else { return nil }
    // The last word may overlap the one before, so that all words are whole.
    var literals = stride(from: 0, to: max(bytes.count - 8, 0), by: 8).map { start in
        wordLiteral(bytes[start..<start + 8])
    }
    literals.append(wordLiteral(bytes.suffix(8)))
    return "cursor.takes(\(literals.joined(separator: ", ")), byteCount: \(bytes.count), in: bytes)"
}

/// Generates statements of an `encode(into:)`; joins constant bytes and writes them eight at a
/// time.
struct ConstantWriter {
    private(set) var lines: Lines = []
    private var pending: [UInt8] = []
    private var comment = ""

    /// Adds constant bytes; `text` is their readable form, for the comment.
    mutating func constant(_ bytes: [UInt8], _ text: String) {
        pending += bytes
        comment += text
    }

    /// Adds a key, which a value follows.
    mutating func key(_ name: WireBytes) { constant(name.item, "\"\(name.text)\":") }

    /// Adds a statement that writes a run-time value.
    mutating func value(_ expression: String) {
        flush()
        lines.append("\(expression).encode(into: &writer)")
    }

    /// Writes the pending constant bytes.
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
