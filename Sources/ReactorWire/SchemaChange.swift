/// A difference between the schema of stored values and the schema of today's type, with its
/// meaning for a reader of the stored values.
@MemberwiseInit
package struct SchemaChange: Equatable, Sendable {
    /// What the author has to do.
    package enum Verdict: Equatable, Sendable {
        /// Nothing: every stored value is read, and nothing of it is lost.
        case fine
        /// The types cannot tell what becomes of the stored value, so the author declares it.
        case needsDecision
        /// Today's type reads no value of the stored form.
        case forbidden
    }

    /// What the author has to do.
    package var verdict: Verdict
    /// Names from the outermost value to the place, such as `["address", "street"]`; `*` stands for
    /// each element of an array or map.
    package var path: [String]
    /// What changed.
    package var change: String
    /// What to write, empty if nothing is to be done.
    package var remedy: String
    /// What differs, for a program that reads values of the stored form without migrating them.
    package var kind: Kind = .other

    /// The difference between the stored form and today's type.
    package enum Kind: Equatable, Sendable {
        /// Today's type has no such field: a reader skips it.
        case skipped
        /// The stored form has no such field. `takesNil` says that its type is optional,
        /// `hasDefault` that a reader supplies a value.
        case missing(takesNil: Bool, hasDefault: Bool)
        /// The type has another version: a value of the stored form has another meaning.
        case version(stored: Int, today: Int)
        case other
    }
}

extension SchemaChange: CustomStringConvertible {
    /// One line: the verdict, the place, what changed, and what to write. Safe to print.
    package var description: String {
        let place = path.isEmpty ? "value" : path.map(\.printable).joined(separator: ".")
        return "\(verdict): \(place) \(change)\(remedy.isEmpty ? "" : ": " + remedy)"
    }
}

extension SchemaChange.Verdict: CustomStringConvertible {
    package var description: String {
        switch self {
        case .fine: "fine"
        case .needsDecision: "needs a decision"
        case .forbidden: "forbidden"
        }
    }
}

extension WireSchema {
    /// Compares this schema of stored values with the schema of today's type.
    ///
    /// Equal schemas, and fields and cases in another order, have no changes. *Cost*: O(both
    /// schemas).
    package func changes(to today: WireSchema) -> [SchemaChange] {
        var comparison = SchemaComparison()
        comparison.compare(self, today)
        return comparison.changes
    }
}

/// Walks through two schemas in parallel.
///
/// A reference stands for the enclosing record or choice of its name, whose comparison is under
/// way, so the walk ends there.
private struct SchemaComparison {
    var changes: [SchemaChange] = []
    private var path: [String] = []

    mutating func compare(_ stored: WireSchema, _ today: WireSchema) {
        switch (stored, today) {
        case (_, .any), (.bool, .bool), (.float, .float), (.text, .text), (.bytes, .bytes),
            (.duration, .duration):
            break
        case (.reference, _), (_, .reference): break
        case (.optional(let stored), .optional(let today)): compare(stored, today)
        case (_, .optional(let today)): compare(stored, today)
        case (.optional(let stored), _):
            add(
                .needsDecision, "may be absent in the history, and not in the program",
                "keep the optional type, or convert `null` in a migration")
            compare(stored, today)
        case (.named(let stored), .named(let today)) where stored.name == today.name:
            compare(stored.schema, today.schema)
        // A value of another name may have the same form, and another meaning.
        case (.named, _), (_, .named): addForm(form(of: stored), form(of: today))
        case (.integer(let storedMin, let storedMax), .integer(let min, let max)):
            if min > storedMin || max < storedMax {
                add(
                    .needsDecision, "holds only integers from \(min) to \(max) now",
                    "keep the wider type, or convert the others in a migration")
            }
        case (.integer, .float): break
        case (.array(let stored), .array(let today)), (.map(let stored), .map(let today)):
            inside("*") { $0.compare(stored, today) }
        case (.record(let stored), .record(let today)):
            if isConverted(stored.version, today.version) { return }
            compare(stored.fields, today.fields, removed: today.removed, of: "struct")
        case (.choice(let stored), .choice(let today)):
            if isConverted(stored.version, today.version) { return }
            compare(stored, today)
        default: addForm(form(of: stored), form(of: today))
        }
    }

    /// Whether the versions differ: then the type's own steps decide what becomes of the value, and
    /// its parts are not comparable.
    private mutating func isConverted(_ stored: Int, _ today: Int) -> Bool {
        if stored < today {
            add(
                .fine, "has version \(stored), and is converted to version \(today)",
                kind: .version(stored: stored, today: today))
        } else if stored > today {
            add(
                .forbidden, "has version \(stored), and version \(today) in the program",
                "start the newer program that wrote it",
                kind: .version(stored: stored, today: today))
        }
        return stored != today
    }

    private mutating func compare(
        _ stored: [WireSchema.Field], _ today: [WireSchema.Field], removed: [String],
        of owner: String
    ) {
        for field in stored {
            inside(field.name) { comparison in
                let readers = today.filter { $0.isNamed(field.name) }
                guard let reader = readers.first else {
                    return comparison.addMissing(field.name, isRemoved: removed, of: owner)
                }
                if reader.name != field.name {
                    comparison.add(.fine, "is renamed to \(reader.name)")
                }
                comparison.compare(field.schema, reader.schema)
            }
        }
        for field in today {
            let sources = stored.filter { field.isNamed($0.name) }
            inside(field.name) { comparison in
                if sources.isEmpty {
                    comparison.addNew(field)
                } else if sources.count > 1 {
                    let names = WireSchema.list(sources.map(\.name))
                    comparison.add(
                        .forbidden, "would be read from several stored fields, \(names)",
                        "remove the alias, and declare the other name in @WireRemoved")
                }
            }
        }
    }

    private mutating func addMissing(_ name: String, isRemoved: [String], of owner: String) {
        if isRemoved.contains(name) {
            return add(.fine, "is removed, its value is dropped", kind: .skipped)
        }
        add(
            .needsDecision, "is not in the program",
            owner == "struct"
                ? "write @WireAlias(\(name.quoted())) on the field that has its value now, or "
                    + "@WireRemoved(\(name.quoted())) on the struct"
                : "write @WireAlias(\(name.quoted())) on the case for its new label, or a migration",
            kind: .skipped)
    }

    private mutating func addNew(_ field: WireSchema.Field) {
        let takesNil = if case .optional = field.schema { true } else { false }
        let kind = SchemaChange.Kind.missing(
            takesNil: takesNil, hasDefault: field.isOptional)
        if field.isOptional { return add(.fine, "is new, with a default", kind: kind) }
        add(
            .needsDecision, "is new, without a default",
            "give it a default value or an optional type, or write a migration", kind: kind)
    }

    private mutating func compare(_ stored: WireSchema.Choice, _ today: WireSchema.Choice) {
        for old in stored.cases {
            inside(old.name) { comparison in
                guard let reader = today.cases.first(where: { $0.isNamed(old.name) }) else {
                    return comparison.add(
                        .needsDecision, "is not in the program",
                        "keep the case, write @WireAlias(\(old.name.quoted())) on the case that "
                            + "replaces it, or a migration")
                }
                if reader.name != old.name {
                    comparison.add(.fine, "is renamed to \(reader.name)")
                }
                comparison.compare(old.payload, reader.payload)
            }
        }
        for reader in today.cases where !stored.cases.contains(where: { reader.isNamed($0.name) }) {
            inside(reader.name) { $0.add(.fine, "is a new case") }
        }
    }

    private mutating func compare(_ stored: WireSchema.Payload, _ today: WireSchema.Payload) {
        switch (stored, today) {
        case (.single(let stored), .single(let today)): compare(stored, today)
        case (.tuple(let stored), .tuple(let today)) where stored.count == today.count:
            for (index, pair) in zip(stored, today).enumerated() {
                inside(String(index)) { $0.compare(pair.0, pair.1) }
            }
        case (.none, .none), (.none, .record), (.record, .none), (.record, .record):
            compare(stored.fields, today.fields, removed: [], of: "case")
        default: addForm(stored.form, today.form)
        }
    }
}

// MARK: - Places and changes
extension SchemaComparison {
    private mutating func inside(_ name: String, _ body: (inout SchemaComparison) -> Void) {
        path.append(name)
        body(&self)
        path.removeLast()
    }

    private mutating func add(
        _ verdict: SchemaChange.Verdict, _ change: String, _ remedy: String = "",
        kind: SchemaChange.Kind = .other
    ) {
        changes.append(
            SchemaChange(
                verdict: verdict, path: path, change: change, remedy: remedy, kind: kind))
    }

    private mutating func addForm(_ stored: String, _ today: String) {
        add(
            .forbidden, "was \(stored), and is \(today) now",
            "keep the old form under this name, or convert it in a migration")
    }
}

extension WireSchema.Field {
    fileprivate func isNamed(_ name: String) -> Bool {
        self.name == name || aliases.contains(name)
    }
}

extension WireSchema.Case {
    fileprivate func isNamed(_ name: String) -> Bool {
        self.name == name || aliases.contains(name)
    }
}

extension WireSchema.Payload {
    /// The labelled values.
    fileprivate var fields: [WireSchema.Field] {
        if case .record(let fields) = self { fields } else { [] }
    }

    fileprivate var form: String {
        switch self {
        case .none: "a case without values"
        case .single(let schema): "a case of \(ReactorWire.form(of: schema))"
        case .tuple(let schemas): "a case of \(schemas.count) values without labels"
        case .record: "a case of labelled values"
        }
    }
}

/// The kind of value, for texts.
private func form(of schema: WireSchema) -> String {
    switch schema {
    case .bool: "a boolean"
    case .integer: "an integer"
    case .float: "a number"
    case .text: "text"
    case .bytes: "bytes"
    case .any: "any value"
    case .duration: "a duration"
    case .optional(let wrapped): form(of: wrapped)
    case .array: "an array"
    case .map: "a map"
    case .record(let record): "the struct \(record.name)"
    case .choice(let choice): "the enum \(choice.name)"
    case .reference(let name): "the type \(name)"
    case .named(let named): "a \(named.name)"
    }
}
