/// The code for a map with known keys: a struct, or a case with labelled values.
struct RecordExpansion {
    var fields: [WireField]
    /// Names of removed fields.
    var removed: [WireBytes] = []
    /// A suffix for the names of this record's support members, unique within the type.
    var suffix: String
    var access: WireAccess

    /// Positions of the fields, in the order of the encoded keys.
    var wireOrder: [Int] {
        fields.indices.sorted { WireBytes.precedes(fields[$0].name, fields[$1].name) }
    }

    /// The name of the local variable that holds field `index` while decoding.
    func local(_ index: Int) -> String { "value\(index)" }
}

// MARK: - Encoding
extension RecordExpansion {
    /// Appends the map to `writer`, with the values of `expression` for each position.
    func encode(to writer: inout ConstantWriter, _ expression: (Int) -> String) {
        writer.constant(cborHead(major: 5, fields.count), fields.isEmpty ? "{}" : "{")
        for (place, index) in wireOrder.enumerated() {
            if place > 0 { writer.constant([], ",") }
            writer.key(fields[index].name)
            writer.value(fields[index].formed(expression(index)))
        }
    }

    /// The `switch` that follows the first component of `path` into a field.
    func reach(_ expression: (Int) -> String) -> Lines {
        guard !fields.isEmpty else { return ["return .impossible"] }
        var lines = ["switch key {"]
        for (index, field) in fields.enumerated() {
            lines.append("case \(stringLiteral(field.name.text)):")
            let value = field.formed(expression(index))
            lines.append("    return \(value).encode(at: path.dropFirst(), into: &writer)")
        }
        return lines + ["default: return .impossible", "}"]
    }
}

// MARK: - Decoding
extension RecordExpansion {
    /// Statements that read the map at `cursor` into a local variable for each field.
    var decode: Lines {
        var lines: Lines = []
        if fields.contains(where: { needsStart($0) }) { lines.append("let start = cursor.offset") }
        lines.append("var map = try cursor.openMap(in: bytes)")
        for (index, field) in fields.enumerated() {
            lines.append("var \(local(index)): \(field.form)?  // \(field.name.text)")
        }
        guard !fields.isEmpty || !removed.isEmpty else {
            return lines
                + block(
                    "while let name = try cursor.nextName(in: bytes, &map)",
                    ["try cursor.skipStranger(name, in: bytes, &map)"])
        }
        lines += expected
        var cases: Lines = ["switch \(indexCall("name")) {"]
        for index in fields.indices {
            cases.append(
                "case \(index): try cursor.field(name, \(target(index)), in: bytes)")
        }
        if !removed.isEmpty {
            cases.append(
                "case \(fields.count): try cursor.skipRemoved(name, in: bytes, &map)")
        }
        cases += ["default: try cursor.skipStranger(name, in: bytes, &map)", "}"]
        return lines + block("while let name = try cursor.nextName(in: bytes, &map)", cases)
    }

    /// Statements that read the fields as long as they are in the order of the encoder.
    private var expected: Lines {
        wireOrder.flatMap { index -> Lines in
            let name = fields[index].name
            guard let takes = takesCall(name.item) else { return [] }
            let read =
                "try cursor.expected(\(stringLiteral(name.text)), \(target(index)), "
                + "in: bytes, &map)"
            return condition(["cursor.hasPair(map)", takes], note: "\"\(name.text)\":")
                + [read].indented + ["}"]
        }
    }

    /// The arguments for the variable of field `index`.
    private func target(_ index: Int) -> String {
        let type = fields[index].gate.map { "\($0.name).self, " } ?? ""
        return "\(type)into: &\(local(index))"
    }

    /// The expression of field `index`, after the map was read.
    func decoded(_ index: Int) -> String {
        let field = fields[index]
        let value = field.gate.map { "\(local(index)) as \($0.name)?" } ?? local(index)
        switch field.defaultValue {
        case .literal("nil"), nil:
            return
                "try cursor.required(\(value), \(stringLiteral(field.name.text)), at: start)"
        case .literal(let text): return "\(local(index)) ?? \(text)"
        case .expression: return "\(local(index)) ?? Self.\(defaultName(index))"
        }
    }

    /// The expressions of all fields after the map was read, and the statements before them.
    ///
    /// Each checked field has a statement: the compiler gives up on one long expression with
    /// several mistakes. So have the fields before it, which keeps the order of errors.
    var settled: (statements: Lines, values: [String]) {
        let last = fields.lastIndex { $0.gate != nil } ?? -1
        var statements: Lines = []
        let values = fields.indices.map { index in
            guard index <= last else { return decoded(index) }
            statements.append("let field\(index): \(fields[index].checkedType) = \(decoded(index))")
            return "field\(index)"
        }
        return (statements, values)
    }

    private func needsStart(_ field: WireField) -> Bool {
        switch field.defaultValue {
        case .literal("nil"), nil: true
        default: false
        }
    }

    private func defaultName(_ index: Int) -> String { "_wireDefault\(suffix)_\(index)" }

    /// Members that check the types of the fields.
    var gateMembers: [Lines] {
        fields.compactMap(\.gate).flatMap { $0.members(access: access) }
    }

    /// Members for the defaults that are not literals.
    var defaultMembers: [Lines] {
        fields.indices.compactMap { index in
            guard case .expression(let text) = fields[index].defaultValue else { return nil }
            let type = fields[index].checkedType
            return block(
                "\(access.supportOpaque)static var \(defaultName(index)): \(type)",
                text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
        }
    }

    /// The member that maps a name to the position of its field.
    var indexMember: Lines {
        guard !fields.isEmpty || !removed.isEmpty else { return [] }
        return nameIndexMember(
            indexName, fields.map { [$0.name] + $0.aliases } + [removed], access: access)
    }

    private var indexName: String { "_wireIndex\(suffix)" }

    private func indexCall(_ name: String) -> String { "Self.\(indexName)(of: \(name), in: bytes)" }
}

// MARK: - Schema
extension RecordExpansion {
    /// The elements of an array of ``WireSchema/Field``.
    var schemaFields: Lines {
        fields.map { field in
            var arguments = "\(stringLiteral(field.name.text)), \(field.form).self"
            if field.defaultValue != nil { arguments += ", hasDefault: true" }
            if !field.doc.isEmpty { arguments += ", doc: \(stringLiteral(field.doc))" }
            if !field.aliases.isEmpty {
                arguments += ", aliases: \(stringArrayLiteral(field.aliases.map(\.text)))"
            }
            return "WireSchema.field(\(arguments)),"
        }
    }
}

/// A function that maps a name in the decoded bytes to the position of its group in `names`, or
/// to -1: by length first, then eight bytes at a time.
func nameIndexMember(_ function: String, _ names: [[WireBytes]], access: WireAccess) -> Lines {
    var byCount: [Int: [(name: WireBytes, index: Int)]] = [:]
    for (index, group) in names.enumerated() {
        for name in group { byCount[name.utf8.count, default: []].append((name, index)) }
    }
    var body: Lines = ["switch name.count {"]
    for count in byCount.keys.sorted() {
        body.append("case \(count):")
        var tests: Lines = []
        if count > 0 {
            tests.append("let word = bytes.word(at: name.start, byteCount: \(min(count, 8)))")
        }
        for (name, index) in byCount[count, default: []] {
            tests += nameTest(name, ["return \(index)"])
        }
        body += tests.indented
    }
    body += ["default: break", "}", "return -1"]
    return [
        "\(access.support)static func \(function)(",
        "    of name: WireName, in bytes: Swift.Span<Swift.UInt8>",
    ]
        + block(") -> Swift.Int", body)
}

private func nameTest(_ name: WireBytes, _ body: Lines) -> Lines {
    guard !name.utf8.isEmpty else { return body }
    let tests = words(name.utf8).map { word in
        word.offset == 0
            ? "word == \(wordLiteral(word.bytes))"
            : "bytes.word(at: name.start &+ \(word.offset), byteCount: \(word.bytes.count)) "
                + "== \(wordLiteral(word.bytes))"
    }
    return condition(tests, note: name.text) + body.indented + ["}"]
}
