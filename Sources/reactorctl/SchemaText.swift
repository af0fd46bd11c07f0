import ReactorWire

/// A reactor's description as text for a terminal.
struct SchemaText {
    private(set) var lines: [String] = []

    /// Formats an answer to `describe`.
    init(_ node: NodeDescription) {
        lines.append("\(node.path)  \(node.reactor)")
        if !node.doc.isEmpty { lines.append("  \(node.doc)") }
        section("actions", node.action)
        section("state", node.state)
        if let reply = node.reply { section("reply", reply) }
        list("derived values", node.derived) { value in
            let doc = value.doc.isEmpty ? "" : "  \(value.doc)"
            return "\(value.name): \(Self.name(value.value))\(doc)"
        }
        let derived = Set(node.derived.map(\.name))
        list("children", node.children.filter { !derived.contains($0) }) { $0 }
    }

    private mutating func list<Item>(
        _ title: String, _ items: [Item], _ text: (Item) -> String
    ) {
        if items.isEmpty { return }
        lines.append("")
        lines.append(title)
        for item in items { lines.append("  \(text(item))") }
    }

    private mutating func section(_ title: String, _ schema: WireSchema) {
        lines.append("")
        lines.append(title)
        switch schema {
        case .choice(let choice):
            for item in choice.cases { add(item) }
            if choice.cases.isEmpty { lines.append("  (none)") }
        case .record(let record):
            for field in record.fields { add(field, indent: "  ") }
            if record.fields.isEmpty { lines.append("  (none)") }
        default: lines.append("  \(Self.name(schema))")
        }
    }

    private mutating func add(_ item: WireSchema.Case) {
        let payload =
            switch item.payload {
            case .none: "{}"
            case .single(let schema): Self.name(schema)
            case .tuple(let schemas): "[" + schemas.map(Self.name).joined(separator: ", ") + "]"
            case .record(let fields):
                "{"
                    + fields.map { "\"\($0.name)\": \(Self.name($0.schema))" }
                    .joined(separator: ", ") + "}"
            }
        lines.append("  {\"\(item.name)\": \(payload)}")
        if !item.doc.isEmpty { lines.append("      \(item.doc)") }
        if case .record(let fields) = item.payload {
            for field in fields where !field.doc.isEmpty || field.isOptional {
                add(field, indent: "      ")
            }
        }
    }

    private mutating func add(_ field: WireSchema.Field, indent: String) {
        let optional = field.isOptional ? ", may be left out" : ""
        let doc = field.doc.isEmpty ? "" : "  \(field.doc)"
        lines.append("\(indent)\(field.name): \(Self.name(field.schema))\(optional)\(doc)")
    }

    /// A short name of a type.
    static func name(_ schema: WireSchema) -> String {
        switch schema {
        case .bool: "bool"
        case .integer(let min, _): min < 0 ? "integer" : "unsigned integer"
        case .float: "number"
        case .text: "text"
        case .bytes: "bytes"
        case .any: "any value"
        case .duration: "duration in seconds"
        case .optional(let wrapped): "\(name(wrapped)) or null"
        case .array(let element): "list of \(name(element))"
        case .map(let value): "map of text to \(name(value))"
        case .named(let named): named.doc.isEmpty ? named.name : "\(named.name) (\(named.doc))"
        case .record(let record): record.name
        case .choice(let choice): choice.name
        case .reference(let name): name
        }
    }
}
