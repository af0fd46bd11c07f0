extension WireSchema {
    /// Maximum issues that one check reports.
    package static let issuesMax = 16

    /// The places where `value` does not fit the schema: values that decoding would refuse, and
    /// unknown fields, which decoding would skip but a person may have misspelt.
    ///
    /// Empty if it fits. *Place*: tools check a person's input before they send it.
    public func check(_ value: WireValue) -> [SchemaIssue] {
        var checker = SchemaChecker()
        checker.check(value, self)
        return checker.issues
    }

    /// As ``check(_:)``, and also the places where `value` lacks a field, even if decoding would
    /// supply a default.
    ///
    /// *Place*: a reader of a value whose writer's type is not known to be the reader's.
    package func checkExactly(_ value: WireValue) -> [SchemaIssue] {
        var checker = SchemaChecker(needsAllFields: true)
        checker.check(value, self)
        return checker.issues
    }
}

/// Walks through a value and its schema in parallel.
///
/// Its depth is that of the value: every schema except an optional and a named form takes a level
/// of the value, and a reference leads to a record or choice.
private struct SchemaChecker {
    /// Whether a missing field is an issue even if it has a default.
    private let needsAllFields: Bool
    var issues: [SchemaIssue] = []
    private var path: [String] = []
    /// The enclosing records and choices, outermost first.
    private var enclosing: [(name: String, schema: WireSchema)] = []

    init(needsAllFields: Bool = false) { self.needsAllFields = needsAllFields }

    mutating func check(_ value: WireValue, _ schema: WireSchema) {
        switch (schema, value) {
        case (.any, _), (.bool, .bool), (.text, .text), (.bytes, .bytes), (.float, .float): break
        case (.named(let named), _): checkNamed(value, named)
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
            // A name without an enclosing type cannot be checked, so the value passes.
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
                if field.isOptional, !needsAllFields { break }
                inside(field.name) { $0.report(field.schema.kind, got: "nothing") }
            case 1: break
            default: inside(field.name) { $0.report("the field once", got: "it under two names") }
            }
        }
    }

    private mutating func checkNamed(_ value: WireValue, _ named: WireSchema.Named) {
        var form = SchemaChecker()
        form.check(value, named.schema)
        if !form.issues.isEmpty { report(WireSchema.named(named).kind, got: value.kind) }
    }

    private mutating func checkDuration(_ value: WireValue) {
        // A duration has further rules than the kind of its value, so the decoder checks it.
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
                        "case", pair.key.text, choice.cases.map(\.name), isCase: true)
                }
                checker.check(pair.value, known.payload)
            }
        default: report("a map with one key, one of \(names)", got: value.kind)
        }
    }

    private mutating func checkBare(_ name: String, _ choice: WireSchema.Choice) {
        guard let known = choice.cases.first(where: { $0.isCalled(WireKey(name)) }) else {
            return reportUnknown("case", name, choice.cases.map(\.name), isCase: true)
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

    private mutating func report(_ expected: String, got: String) {
        report(SchemaIssue(path: path, expected: expected, got: got))
    }

    private mutating func report(_ issue: SchemaIssue) {
        if issues.count < WireSchema.issuesMax { issues.append(issue) }
    }

    private mutating func reportUnknown(
        _ what: String, _ name: String, _ known: [String], isCase: Bool = false
    ) {
        var issue = SchemaIssue(
            path: path,
            expected: known.isEmpty ? "no \(what)s" : "one of \(WireSchema.list(known))",
            got: "the unknown \(what) \(name.quoted(bytesMax: 64))",
            nearest: NearestName.of(name, among: known))
        issue.isUnknownCase = isCase
        report(issue)
    }
}

extension WireSchema.Field {
    /// Whether decoding finds the field under `key`.
    func isCalled(_ key: WireKey) -> Bool {
        WireKey(name) == key || aliases.contains { WireKey($0) == key }
    }
}

extension WireSchema.Case {
    /// Whether decoding finds the case under `key`.
    func isCalled(_ key: WireKey) -> Bool {
        WireKey(name) == key || aliases.contains { WireKey($0) == key }
    }
}

extension WireSchema.Payload {
    /// The form of the payload, for error texts.
    fileprivate var kind: String {
        switch self {
        case .none: "an empty map"
        case .single(let schema): schema.kind
        case .tuple(let schemas): "an array of \(schemas.count)"
        case .record(let fields): "a map of the fields \(WireSchema.list(fields.map(\.name)))"
        }
    }
}

// MARK: - Error texts
extension WireSchema {
    /// The accepted values, for an error text: "an integer from 0 to 255".
    var kind: String {
        switch self {
        case .bool: "a bool"
        case .integer(let min, let max): "an integer from \(min) to \(max)"
        case .float: "a number"
        case .text: "text"
        case .bytes: "bytes ({\"$bytes\":\"base64\"} in JSON)"
        case .any: "any value"
        case .duration: "a number of seconds or [seconds, attoseconds]"
        case .optional(let wrapped): "\(wrapped.kind) or null"
        case .array(let element): "an array, each element \(element.kind)"
        case .map(let value): "a map, each value \(value.kind)"
        case .named(let named): named.doc.isEmpty ? named.name : "\(named.name) (\(named.doc))"
        case .record(let record): "a map of the fields \(Self.list(record.fields.map(\.name)))"
        case .choice(let choice): "one of \(Self.list(choice.cases.map(\.name)))"
        case .reference(let name): "a \(name)"
        }
    }

    /// Names for an error text, the first 16 of them.
    package static func list(_ names: [String]) -> String {
        guard !names.isEmpty else { return "(none)" }
        let shown = names.prefix(16).joined(separator: ", ")
        return names.count > 16 ? shown + ", …" : shown
    }
}

// MARK: - Paths
extension WireSchema {
    /// Whether a value of this shape can have a part at `path`, now or later.
    ///
    /// A map can have any key, an array any index, and a value of any shape any path. A schema
    /// lacks rules that only the type knows, for example that a map's keys are numbers, or that a
    /// set has no parts: for these, the result is true.
    ///
    /// *Place*: checked before the daemon grants a slice, since a search for the value itself would
    /// encode it. *Cost*: O(components), independent of the value's size.
    package func allows(_ path: ArraySlice<WireKey>) -> Bool {
        var walk = PathWalk(schema: self, rest: path)
        while let component = walk.rest.first {
            if let answer = walk.step(component) { return answer }
        }
        return true
    }

    /// A component of a path that is no part of its type.
    package struct MissingPart: Error, Equatable {
        /// The component.
        package var name: WireKey
        /// The names of the parts that exist.
        package var known: [String]
        /// What the component is looked up in, in words.
        package var kind: String
    }

    /// The shape of the part at `path`, without optionals around it; ``any`` if the schema does not
    /// tell.
    ///
    /// *Throws*: the first component that no value of this shape can have.
    package func part(at path: ArraySlice<WireKey>) throws(MissingPart) -> WireSchema {
        var walk = PathWalk(schema: self, rest: path)
        while let component = walk.rest.first {
            let schema = walk.schema
            switch walk.step(component) {
            case true: return .any
            case false:
                throw MissingPart(name: component, known: schema.partNames, kind: schema.kind)
            case nil: break
            }
        }
        return walk.bareSchema
    }

    /// The names of the fields of a record, or the cases of a choice.
    private var partNames: [String] {
        switch self {
        case .record(let record): record.fields.map(\.name)
        case .choice(let choice): choice.cases.map(\.name)
        default: []
        }
    }
}

/// A walk along a path, from the schema of the whole value to that of a part.
private struct PathWalk {
    var schema: WireSchema
    var rest: ArraySlice<WireKey>
    /// The enclosing records and choices, outermost first.
    private var enclosing: [(name: String, schema: WireSchema)] = []

    init(schema: WireSchema, rest: ArraySlice<WireKey>) {
        self.schema = schema
        self.rest = rest
    }

    /// Moves to the part named `component`, or returns whether the whole path is possible.
    mutating func step(_ component: WireKey) -> Bool? {
        switch schema {
        case .any: return true
        case .bool, .integer, .float, .text, .duration, .named: return false
        case .optional(let wrapped):
            schema = wrapped
            return nil
        case .reference(let name):
            // A name without an enclosing type does not describe the value.
            guard let outer = enclosing.last(where: { $0.name == name }) else { return true }
            schema = outer.schema
            return nil
        case .map(let value): return enter(value)
        case .array(let element): return component.arrayIndex == nil ? false : enter(element)
        case .bytes:
            return component.arrayIndex == nil ? false : enter(.integer(min: 0, max: 255))
        case .record(let record):
            enclosing.append((record.name, schema))
            return enter(component, of: record.fields)
        case .choice(let choice):
            enclosing.append((choice.name, schema))
            guard let item = choice.cases.first(where: { WireKey($0.name) == component }) else {
                return false
            }
            return enter(item.payload)
        }
    }

    /// The schema without optionals and references around it.
    var bareSchema: WireSchema {
        var bare = schema
        while true {
            switch bare {
            case .optional(let wrapped): bare = wrapped
            case .reference(let name):
                guard let outer = enclosing.last(where: { $0.name == name }) else { return .any }
                return outer.schema
            default: return bare
            }
        }
    }

    private mutating func enter(_ part: WireSchema) -> Bool? {
        schema = part
        rest = rest.dropFirst()
        return nil
    }

    private mutating func enter(_ name: WireKey, of fields: [WireSchema.Field]) -> Bool? {
        guard let field = fields.first(where: { WireKey($0.name) == name }) else { return false }
        return enter(field.schema)
    }

    /// Moves to a part of a case's payload: a value without a label is directly below the case,
    /// others are below their index or label.
    private mutating func enter(_ payload: WireSchema.Payload) -> Bool? {
        if case .single(let schema) = payload { return enter(schema) }
        rest = rest.dropFirst()
        guard let component = rest.first else { return true }
        switch payload {
        case .tuple(let schemas):
            guard let index = component.arrayIndex, index < schemas.count else { return false }
            return enter(schemas[index])
        case .record(let fields): return enter(component, of: fields)
        case .none, .single: return false
        }
    }
}
