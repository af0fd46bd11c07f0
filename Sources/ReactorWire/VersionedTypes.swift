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
        for schema in schemas { add(schema) }
        for name in entries.keys.sorted() {
            guard let entry = entries[name] else { continue }
            for former in entry.origin.migrations.formerNames { add(former, of: name) }
        }
    }

    /// The name of a type above version 1; `nil` if there is none.
    package var firstWithVersion: String? {
        entries.values.filter { $0.version > 1 }.map(\.name).min()
    }

    private mutating func add(_ schema: WireSchema) {
        switch schema {
        case .bool, .integer, .float, .text, .bytes, .any, .duration, .reference: break
        case .optional(let inner), .array(let inner), .map(let inner): add(inner)
        case .named(let named): add(named.schema)
        case .record(let record):
            add(Entry(name: record.name, version: record.version, origin: record.origin))
            for field in record.fields { add(field.schema) }
        case .choice(let choice):
            add(Entry(name: choice.name, version: choice.version, origin: choice.origin))
            for item in choice.cases { add(item.payload) }
        }
    }

    private mutating func add(_ payload: WireSchema.Payload) {
        switch payload {
        case .none: break
        case .single(let schema): add(schema)
        case .tuple(let schemas): for schema in schemas { add(schema) }
        case .record(let fields): for field in fields { add(field.schema) }
        }
    }

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
