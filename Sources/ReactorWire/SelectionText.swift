/// Reads the parts of a selection as a person writes them.
///
///     phase == "running" and (progress > 3 or labels["os"] in ["linux", "bsd"])
///     -startedAt,@key
///     10..20
///
/// A field is a name, with `.` before each further one; `["any key"]` is a name that is no word.
/// *Throws*: ``SelectionTextError``, with the column.
package enum SelectionText {
    /// Reads a condition.
    package static func condition(
        _ text: String
    ) throws(SelectionTextError) -> SelectionCondition {
        var parser = SelectionParser(text)
        let condition = try parser.alternatives()
        try parser.finish(expected: "and, or, or the end")
        return condition
    }

    /// Reads an order: fields with commas between them, `-` before a descending one, `@key` for the
    /// key.
    package static func order(_ text: String) throws(SelectionTextError) -> [SelectionOrder] {
        var parser = SelectionParser(text)
        var order = [try parser.order()]
        while parser.take(",") { order.append(try parser.order()) }
        try parser.finish(expected: "a comma or the end")
        return order
    }

    /// Reads a range of keys, both ends included: `10..20`, `10..`, `..20`.
    package static func keys(_ text: String) throws(SelectionTextError) -> KeyBounds {
        let bytes = Array(text.utf8)
        let dot = UInt8(ascii: ".")
        let start = bytes.indices.dropLast().first { bytes[$0] == dot && bytes[$0 + 1] == dot }
        guard let start else {
            throw SelectionTextError(
                column: text.count + 1, expected: "two dots, as in 10..20", got: "the end")
        }
        func key(_ part: ArraySlice<UInt8>) -> WireKey? {
            part.isEmpty ? nil : WireKey(String(decoding: part, as: UTF8.self))
        }
        return KeyBounds(from: key(bytes[..<start]), through: key(bytes[(start + 2)...]))
    }
}

/// A fault in the text of a selection.
package struct SelectionTextError: Error, Equatable, CustomStringConvertible {
    /// The faulty character, counted from 1.
    package var column: Int
    package var expected: String
    package var got: String

    package var description: String { "column \(column): expected \(expected), got \(got)" }
}

/// Reads a text from its start.
private struct SelectionParser {
    private let bytes: [UInt8]
    private var offset = 0
    private var depth = 0

    private static let words: Set = ["and", "or", "not", "in", "true", "false", "null"]
    private static let comparisons: [(text: String, comparison: FieldComparison)] = [
        ("==", .equal), ("!=", .unequal), ("<=", .lessOrEqual), (">=", .greaterOrEqual),
        ("<", .less), (">", .greater),
    ]

    init(_ text: String) { bytes = Array(text.utf8) }

    // MARK: Conditions

    /// Conditions with `or` between them.
    mutating func alternatives() throws(SelectionTextError) -> SelectionCondition {
        var parts = [try conjunction()]
        while takeWord("or") || take("||") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .any(parts)
    }

    private mutating func conjunction() throws(SelectionTextError) -> SelectionCondition {
        var parts = [try part()]
        while takeWord("and") || take("&&") { parts.append(try part()) }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private mutating func part() throws(SelectionTextError) -> SelectionCondition {
        skipSpace()
        let start = offset
        guard depth < WireLimits.selectionDepthMax else {
            throw error(at: start, "at most \(WireLimits.selectionDepthMax) levels", "one more")
        }
        depth += 1
        defer { depth -= 1 }
        if takeWord("not") || !follows("!=") && take("!") { return .not(try part()) }
        if take("(") {
            let inner = try alternatives()
            guard take(")") else { throw unexpected("and, or, or )") }
            return inner
        }
        return try comparison()
    }

    private mutating func comparison() throws(SelectionTextError) -> SelectionCondition {
        let field = try field()
        if takeWord("in") { return .among(field: field, values: try list()) }
        for (text, comparison) in Self.comparisons where take(text) {
            return .compare(field: field, by: comparison, with: try literal())
        }
        throw unexpected("one of == != < <= > >= in")
    }

    private mutating func list() throws(SelectionTextError) -> [WireValue] {
        guard take("[") else { throw unexpected("a list in brackets") }
        var values = [try literal()]
        while take(",") { values.append(try literal()) }
        guard take("]") else { throw unexpected("a comma or ]") }
        return values
    }

    private mutating func literal() throws(SelectionTextError) -> WireValue {
        for (word, value) in [
            ("true", WireValue.bool(true)), ("false", .bool(false)), ("null", .null),
        ]
        where takeWord(word) {
            return value
        }
        skipSpace()
        if let quoted = try quoted() { return .text(quoted) }
        let start = offset
        while offset < bytes.count, Self.isNumeral(bytes[offset]) { offset += 1 }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        if start < offset, let number = try? WireValue(json: text) { return number }
        offset = start
        throw unexpected("a number, a text in quotes, true, false or null")
    }

    /// A text in quotes: with escapes as in JSON between double ones, as it is between single ones.
    private mutating func quoted() throws(SelectionTextError) -> String? {
        guard offset < bytes.count, [0x22, 0x27].contains(bytes[offset]) else { return nil }
        let (quote, start) = (bytes[offset], offset)
        var end = start + 1
        while end < bytes.count, bytes[end] != quote {
            end += quote == 0x22 && bytes[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        guard end < bytes.count else {
            throw error(at: bytes.count, "a closing quote", "the end")
        }
        offset = end + 1
        if quote == 0x27 { return String(decoding: bytes[(start + 1)..<end], as: UTF8.self) }
        let json = String(decoding: bytes[start...end], as: UTF8.self)
        guard let text = (try? WireValue(json: json))?.textValue else {
            throw error(at: start, "a text in JSON", json)
        }
        return text
    }

    // MARK: Orders and fields

    /// A part of an order.
    mutating func order() throws(SelectionTextError) -> SelectionOrder {
        let descending = take("-")
        if !descending { _ = take("+") }
        if take("@") {
            guard takeWord("key") else { throw unexpected("key") }
            return SelectionOrder(field: [], descending: descending)
        }
        return SelectionOrder(field: try field(), descending: descending)
    }

    private mutating func field() throws(SelectionTextError) -> [WireKey] {
        var path = [try component(isFirst: true)]
        while true {
            if follows("[") {
                path.append(try component(isFirst: false))
            } else if take(".") {
                path.append(try component(isFirst: true))
            } else {
                return path
            }
        }
    }

    private mutating func component(isFirst: Bool) throws(SelectionTextError) -> WireKey {
        if take("[") {
            skipSpace()
            let start = offset
            var name = try quoted()
            if name == nil {
                while offset < bytes.count, bytes[offset] >= 0x30, bytes[offset] <= 0x39 {
                    offset += 1
                }
                if offset > start { name = String(decoding: bytes[start..<offset], as: UTF8.self) }
            }
            guard let name else { throw unexpected("a text in quotes or an index") }
            guard take("]") else { throw unexpected("]") }
            return WireKey(name)
        }
        guard let word = word(), isFirst, !Self.words.contains(word) else {
            throw unexpected("a field")
        }
        offset += word.utf8.count
        return WireKey(word)
    }

    // MARK: Characters

    private static func isNumeral(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "_"), 0x80...: true
        default: false
        }
    }

    private mutating func skipSpace() {
        while offset < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[offset]) { offset += 1 }
    }

    private mutating func follows(_ text: String) -> Bool {
        skipSpace()
        return bytes[offset...].starts(with: text.utf8)
    }

    /// Moves past `text`, if that comes next.
    mutating func take(_ text: String) -> Bool {
        guard follows(text) else { return false }
        offset += text.utf8.count
        return true
    }

    /// The next word, if a letter comes next.
    private mutating func word() -> String? {
        skipSpace()
        let end = bytes[offset...].firstIndex { !Self.isWordByte($0) } ?? bytes.count
        guard end > offset, !(0x30...0x39).contains(bytes[offset]) else { return nil }
        return String(decoding: bytes[offset..<end], as: UTF8.self)
    }

    private mutating func takeWord(_ wanted: String) -> Bool {
        guard word() == wanted else { return false }
        offset += wanted.utf8.count
        return true
    }

    // MARK: Errors

    /// Checks that nothing follows.
    mutating func finish(expected: String) throws(SelectionTextError) {
        skipSpace()
        if offset < bytes.count { throw unexpected(expected) }
    }

    private mutating func unexpected(_ expected: String) -> SelectionTextError {
        skipSpace()
        guard offset < bytes.count else { return error(at: offset, expected, "the end") }
        var end = offset
        if let word = word() {
            end += word.utf8.count
        } else if Self.isNumeral(bytes[offset]) {
            end = bytes[offset...].firstIndex { !Self.isNumeral($0) } ?? bytes.count
        } else {
            end =
                bytes[offset...].dropFirst().firstIndex {
                    $0 == 0x20 || Self.isWordByte($0)
                } ?? bytes.count
        }
        let got = String(decoding: bytes[offset..<end], as: UTF8.self)
        return error(at: offset, expected, got.quoted(bytesMax: 64))
    }

    private func error(
        at offset: Int, _ expected: String, _ got: String
    ) -> SelectionTextError {
        let column = String(decoding: bytes[..<offset], as: UTF8.self).count + 1
        return SelectionTextError(column: column, expected: expected, got: got)
    }
}
