/// What the process knows of the type that a schema describes. It is part of neither the encoding
/// nor the equality of schemas.
package struct SchemaOrigin: Equatable, Sendable {
    /// The steps of the type; none in a schema that was read.
    fileprivate(set) var migrations = WireMigrations.none
    /// The type's full name without generic arguments; empty for a type of version 1 without
    /// former names.
    fileprivate(set) var declaration = ""

    package static func == (left: SchemaOrigin, right: SchemaOrigin) -> Bool { true }
}

extension SchemaOrigin {
    init<Described: WireCodable>(of type: Described.Type) {
        migrations = Described.wireMigrations
        guard Described.wireVersion != 1 || !migrations.formerNames.isEmpty else { return }
        declaration = withoutArguments(String(reflecting: type))
    }
}

/// `Module.Box.Item` for `Module.Box<Swift.Int>.Item`.
private func withoutArguments(_ name: String) -> String {
    var depth = 0
    return name.filter { character in
        if character == "<" { depth += 1 }
        defer { if character == ">" { depth -= 1 } }
        return depth == 0
    }
}

/// Today's types with the steps that lead to them, by the names in schemas.
///
/// *Place*: made once for each type of reactor, from the schemas of its state, mutations and
/// actions.
package struct VersionedTypes: Sendable {
    /// A struct or an enum of today.
    struct Entry: Sendable {
        var name: String
        var version: Int
        var origin: SchemaOrigin
    }

    private var entries: [String: Entry] = [:]
    /// Names of today by former names.
    private var renamed: [String: String] = [:]
    /// The authors' mistakes in the chains of the types, a sentence each.
    package private(set) var problems: [String] = []

    /// Gathers all types in `schemas`, which were made in this process.
    package init(in schemas: [WireSchema]) {
        for schema in schemas {
            schema.forEachNamed { add(Entry(name: $0, version: $1, origin: $2)) }
        }
        for name in entries.keys.sorted() {
            guard let entry = entries[name] else { continue }
            for former in entry.origin.migrations.formerNames { add(former, of: name) }
        }
    }

    /// Whether every type is of version 1.
    package var areAllFirst: Bool { entries.values.allSatisfy { $0.version == 1 } }

    private mutating func add(_ entry: Entry) {
        if let known = entries[entry.name] {
            guard
                known.version != entry.version
                    || known.origin.declaration != entry.origin.declaration
            else { return }
            let versions = Set([known.version, entry.version]).sorted()
                .map(String.init).joined(separator: " and ")
            return refuse(
                "\(entry.name) is the name of two types, of version \(versions): stored values "
                    + "cannot tell them apart, so rename one of them")
        }
        entries[entry.name] = entry
        if let problem = entry.origin.migrations.problem(today: entry.version) {
            refuse("\(entry.name) \(problem)")
        }
    }

    private mutating func add(_ former: String, of name: String) {
        if entries[former] != nil {
            refuse(
                "\(former) is the name of a type and a former name of \(name): give the new type "
                    + "another name")
        } else if let other = renamed.updateValue(name, forKey: former), other != name {
            refuse("\(former) is a former name of \(other) and \(name): remove one")
        }
    }

    private mutating func refuse(_ problem: String) {
        if !problems.contains(problem) { problems.append(problem) }
    }

    /// Today's type of values that were stored under the type name `stored`.
    func find(_ stored: String) -> Entry? {
        entries[stored] ?? renamed[stored].flatMap { entries[$0] }
    }
}

extension WireSchema {
    /// Calls `body` with name, version and origin of each struct and enum in the schema.
    fileprivate func forEachNamed(_ body: (String, Int, SchemaOrigin) -> Void) {
        switch self {
        case .bool, .integer, .float, .text, .bytes, .any, .duration, .reference: break
        case .optional(let inner), .array(let inner), .map(let inner): inner.forEachNamed(body)
        case .named(let named): named.schema.forEachNamed(body)
        case .record(let record):
            body(record.name, record.version, record.origin)
            for field in record.fields { field.schema.forEachNamed(body) }
        case .choice(let choice):
            body(choice.name, choice.version, choice.origin)
            for schema in choice.cases.flatMap(\.payload.schemas) { schema.forEachNamed(body) }
        }
    }
}

extension WireSchema.Payload {
    /// The schemas of the values, in the order of declaration.
    fileprivate var schemas: [WireSchema] {
        switch self {
        case .none: []
        case .single(let schema): [schema]
        case .tuple(let schemas): schemas
        case .record(let fields): fields.map(\.schema)
        }
    }
}
