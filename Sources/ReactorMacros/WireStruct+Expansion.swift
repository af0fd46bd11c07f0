/// The members that make a struct codable.
struct StructExpansion {
    var type: WireType
    var fields: [WireField]
    /// Names of removed fields.
    var removed: [WireBytes] = []

    private var record: RecordExpansion {
        RecordExpansion(fields: fields, removed: removed, suffix: "", access: type.access)
    }

    var members: [Lines] {
        record.gateMembers + [valuesMember, encode, decode, reach, record.indexMember]
            + record.defaultMembers + secretMembers(type, fields.filter(\.isSecret).map(\.name))
            + [schemaMember(type, "record", removed: removed, record.schemaFields)]
    }

    /// The names of the fields' types, which the initialiser refers to. It is in an extension,
    /// since in the body it would remove the memberwise initialiser; and an extension cannot refer
    /// to the types beside this one.
    private var valuesMember: Lines {
        let types = fields.map(\.checkedType)
        let tuple = types.count == 1 ? types[0] : "(\(types.joined(separator: ", ")))"
        return ["\(type.access.supportOpaque)typealias _WireValues = \(tuple)"]
    }

    /// The extension's initialiser from decoded values.
    var initializer: Lines {
        let body = fields.enumerated().map { index, field in
            "self.\(field.identifier) = values\(fields.count == 1 ? "" : ".\(index)")"
        }
        return block("\(type.access.support)init(_wireValues values: _WireValues)", body)
    }

    private var encode: Lines {
        var writer = ConstantWriter()
        record.encode(to: &writer) { "self.\(fields[$0].identifier)" }
        writer.flush()
        return block(
            "\(type.access.hot)func encode(into writer: inout WireWriter)\(type.whereClause)",
            writer.lines)
    }

    private var decode: Lines {
        let (statements, values) = record.settled
        // Without the labels, the compiler would report a call of an initializer with a mistake in
        // its type, which it has reported at the field already.
        let isChecked = fields.contains { $0.gate != nil }
        let call = isChecked ? "Self.init(_wireValues:)(" : "Self(_wireValues: "
        let body: Lines
        switch values.count {
        case 0: body = ["return Self(_wireValues: ())"]
        case 1: body = ["return \(call)\(values[0]))"]
        default:
            let list = values.dropLast().map { $0 + "," } + [values[values.count - 1]]
            body = ["return \(call)("] + list.indented + ["))"]
        }
        return decodeMember(type, record.decode + statements + body)
    }

    private var reach: Lines {
        let start = block(
            "guard let key = path.first else", ["encode(into: &writer)", "return .found"])
        let body =
            fields.isEmpty
            ? [
                "guard path.isEmpty else { return .impossible }", "encode(into: &writer)",
                "return .found",
            ]
            : start + record.reach { "self.\(fields[$0].identifier)" }
        return reachMember(type, body)
    }
}

// MARK: - Members of structs and enums
/// The `decode` requirement.
func decodeMember(_ type: WireType, _ body: Lines) -> Lines {
    [
        "\(type.access.hot)static func decode(",
        "    _ bytes: Swift.Span<Swift.UInt8>, _ cursor: inout WireCursor",
    ]
        + block(") throws(WireError) -> Self\(type.whereClause)", body)
}

/// The `encode(at:into:)` requirement.
func reachMember(_ type: WireType, _ body: Lines) -> Lines {
    [
        "\(type.access.modifier)func encode(",
        "    at path: Swift.ArraySlice<WireKey>, into writer: inout WireWriter",
    ]
        + block(") -> WireReach\(type.whereClause)", body)
}

/// The member with the names of the fields or cases that the log hides.
func secretMembers(_ type: WireType, _ names: [WireBytes]) -> [Lines] {
    guard !names.isEmpty else { return [] }
    return [
        block(
            "\(type.access.modifier)static var wireSecrets: [Swift.String]",
            [stringArrayLiteral(names.map(\.text))])
    ]
}

/// The `wireSchema` requirement; for a conditional conformance, the function that the extension's
/// property calls, since a property cannot have a condition.
func schemaMember(
    _ type: WireType, _ kind: String, removed: [WireBytes] = [], _ elements: Lines
) -> Lines {
    let head =
        type.unconstrained.isEmpty
        ? "\(type.access.modifier)static var wireSchema: WireSchema"
        : "private static func _wireSchema() -> WireSchema\(type.whereClause)"
    var arguments = "Self.self, name: \(stringLiteral(type.name))"
    if !type.doc.isEmpty { arguments += ", doc: \(stringLiteral(type.doc))" }
    if !removed.isEmpty {
        arguments += ", removed: \(stringArrayLiteral(removed.map(\.text)))"
    }
    let list = elements.isEmpty ? ["[]"] : ["["] + elements.indented + ["]"]
    return block(head, block("WireSchema.\(kind)(\(arguments))", list))
}
