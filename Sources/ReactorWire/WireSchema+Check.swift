extension WireSchema {
    /// Most issues that one check reports.
    public static let issuesMax = 16

    /// Where `value` does not fit the schema: what decoding it would refuse, and unknown fields,
    /// which decoding skips but a person has misspelt.
    ///
    /// Empty if it fits. Place: tools check what a person typed before they send it.
    public func check(_ value: WireValue) -> [SchemaIssue] {
        var checker = SchemaChecker()
        checker.check(value, self)
        return checker.issues
    }
}

/// A walk through a value and its schema side by side.
///
/// Its depth is the value's, because every schema but an optional takes a level of the value, and
/// a reference leads to a record or choice.
private struct SchemaChecker {
    var issues: [SchemaIssue] = []
    private var path: [String] = []
    /// The records and choices around the place, outermost first.
    private var enclosing: [(name: String, schema: WireSchema)] = []

    mutating func check(_ value: WireValue, _ schema: WireSchema) {
        switch (schema, value) {
        case (.any, _), (.bool, .bool), (.text, .text), (.bytes, .bytes), (.float, .float): break
        case (.optional(let wrapped), _): if value != .null { check(value, wrapped) }
        case (.integer(let min, let max), .integer(let integer)):
            if integer.value < Int128(min) || integer.value > Int128(max) {
                report(schema.kind, got: integer.description)
            }
        case (.float, .integer(let integer)):
            if Double(exactly: integer.value) == nil {
                report("a number that a double holds", got: integer.description)
            }
        case (.bytes, .array(let elements)): check(elements, .integer(min: 0, max: 255))
        case (.array(let element), .array(let elements)): check(elements, element)
        case (.map(let schema), .map(let map)):
            for pair in map { inside(pair.key.text) { $0.check(pair.value, schema) } }
        case (.record(let record), .map(let map)):
            within(record.name, schema) { $0.check(map, record.fields) }
        case (.choice(let choice), _):
            within(choice.name, schema) { $0.check(value, choice) }
        case (.duration, _): checkDuration(value)
        case (.reference(let name), _):
            // because a name that nothing around has cannot be checked, it passes
            if let index = enclosing.lastIndex(where: { $0.name == name }) {
                check(value, enclosing[index].schema)
            }
        default: report(schema.kind, got: value.kind)
        }
    }

    private mutating func check(_ elements: [WireValue], _ schema: WireSchema) {
        for (index, element) in elements.enumerated() {
            inside(String(index)) { $0.check(element, schema) }
        }
    }

    private mutating func check(_ map: WireMap, _ fields: [WireSchema.Field]) {
        for pair in map {
            let key = pair.key
            inside(key.text) { checker in
                guard let field = fields.first(where: { $0.isCalled(key) }) else {
                    return checker.reportUnknown("field", key.text, fields.map(\.name))
                }
                checker.check(pair.value, field.schema)
            }
        }
        for field in fields {
            switch map.count(where: { field.isCalled($0.key) }) {
            case 0:
                if field.isOptional { break }
                inside(field.name) { $0.report(field.schema.kind, got: "nothing") }
            case 1: break
            default: inside(field.name) { $0.report("the field once", got: "it under two names") }
            }
        }
    }

    private mutating func checkDuration(_ value: WireValue) {
        // because the rules of a duration are more than kinds: the decoder itself is asked
        do throws(WireError) {
            _ = try value.decoded(as: Duration.self)
        } catch {
            report(WireSchema.duration.kind, got: value.kind)
        }
    }
}

// MARK: - Choices
extension SchemaChecker {
    private mutating func check(_ value: WireValue, _ choice: WireSchema.Choice) {
        let names = WireSchema.list(choice.cases.map(\.name))
        switch value {
        case .text(let name): checkBare(name, choice)
        case .map(let map):
            guard map.count == 1, let pair = map.first else {
                return report(
                    "a map with one key, one of \(names)",
                    got: map.isEmpty ? "an empty map" : "a map with \(map.count) keys")
            }
            inside(pair.key.text) { checker in
                guard let known = choice.cases.first(where: { $0.isCalled(pair.key) }) else {
                    return checker.reportUnknown(
                        "case", pair.key.text, choice.cases.map(\.name))
                }
                checker.check(pair.value, known.payload)
            }
        default: report("a map with one key, one of \(names)", got: value.kind)
        }
    }

    private mutating func checkBare(_ name: String, _ choice: WireSchema.Choice) {
        guard let known = choice.cases.first(where: { $0.isCalled(WireKey(name)) }) else {
            return reportUnknown("case", name, choice.cases.map(\.name))
        }
        if known.payload != .none {
            report("a map {\(name.quoted()):…} with \(known.payload.kind)", got: "the name alone")
        }
    }

    private mutating func check(_ value: WireValue, _ payload: WireSchema.Payload) {
        switch (payload, value) {
        case (.none, .map(let map)): check(map, [])
        case (.single(let schema), _): check(value, schema)
        case (.tuple(let schemas), .array(let elements)):
            guard schemas.count == elements.count else {
                return report(payload.kind, got: "an array of \(elements.count)")
            }
            for (index, element) in elements.enumerated() {
                inside(String(index)) { $0.check(element, schemas[index]) }
            }
        case (.record(let fields), .map(let map)): check(map, fields)
        default: report(payload.kind, got: value.kind)
        }
    }
}

// MARK: - Places and issues
extension SchemaChecker {
    private mutating func inside(_ name: String, _ body: (inout SchemaChecker) -> Void) {
        guard issues.count < WireSchema.issuesMax else { return }
        path.append(name)
        body(&self)
        path.removeLast()
    }

    private mutating func within(
        _ name: String, _ schema: WireSchema, _ body: (inout SchemaChecker) -> Void
    ) {
        enclosing.append((name, schema))
        body(&self)
        enclosing.removeLast()
    }

    private mutating func report(_ expected: String, got: String, nearest: String? = nil) {
        guard issues.count < WireSchema.issuesMax else { return }
        issues.append(SchemaIssue(path: path, expected: expected, got: got, nearest: nearest))
    }

    private mutating func reportUnknown(_ what: String, _ name: String, _ known: [String]) {
        report(
            known.isEmpty ? "no \(what)s" : "one of \(WireSchema.list(known))",
            got: "the unknown \(what) \(name.quoted(bytesMax: 64))",
            nearest: NearestName.of(name, among: known))
    }
}

extension WireSchema.Field {
    fileprivate func isCalled(_ key: WireKey) -> Bool {
        WireKey(name) == key || aliases.contains { WireKey($0) == key }
    }
}

extension WireSchema.Case {
    fileprivate func isCalled(_ key: WireKey) -> Bool {
        WireKey(name) == key || aliases.contains { WireKey($0) == key }
    }
}

extension WireSchema.Payload {
    /// What the payload looks like, for an error's sentence.
    fileprivate var kind: String {
        switch self {
        case .none: "an empty map"
        case .single(let schema): schema.kind
        case .tuple(let schemas): "an array of \(schemas.count)"
        case .record(let fields): "a map of the fields \(WireSchema.list(fields.map(\.name)))"
        }
    }
}
