/// The shape of a wire type. `describe` sends it, tools check JSON against it, and a reactor's
/// fingerprint is computed from it.
///
/// *Shape*: encoded like any choice and record, so that a tool in any language can read it:
/// `{"array":{"integer":{"max":9,"min":0}}}`.
@WireCodable
public indirect enum WireSchema: Equatable, Sendable {
    case bool
    /// An integer within `min...max` (`min` is not above zero).
    case integer(min: Int64, max: UInt64)
    case float
    case text
    case bytes
    /// Any value at all.
    case any
    /// Seconds, as a number.
    case duration
    case optional(WireSchema)
    case array(WireSchema)
    /// A map from text keys to values of one type.
    case map(WireSchema)
    case record(Record)
    case choice(Choice)
    /// A type with a name and a form of its own, such as a date.
    case named(Named)
    /// A recursive type, by the name of the enclosing record or choice.
    case reference(String)

    /// A type that is neither a struct nor an enum on the wire: its name, and the form of its
    /// values, which have no parts.
    @WireCodable
    @MemberwiseInit
    public struct Named: Equatable, Sendable {
        /// Name of the type.
        public var name: String
        /// The form in words, such as `text`.
        public var doc: String = ""
        /// The shape of its values; `any` if none of the others describes it.
        public var schema: WireSchema
    }

    /// A struct: a map with known keys.
    @MemberwiseInit
    public struct Record: WireCodable, Equatable, Sendable {
        /// Name of the type.
        public var name: String
        /// Documentation of the type; empty if the author wrote none.
        public var doc: String = ""
        /// Its fields, in the order of their declaration.
        public var fields: [Field]
        /// Names of removed fields: values stored under them are dropped.
        public var removed: [String] = []
        /// The version of the type: see ``WireCodable/wireVersion``.
        public var version: Int = 1
        /// What the process knows of the type.
        @NotTransmitted package var origin = SchemaOrigin()
    }

    /// A field of a record, or a labelled associated value of a case.
    @WireCodable
    @MemberwiseInit
    public struct Field: Equatable, Sendable {
        /// Its name on the wire.
        public var name: String
        /// Its type.
        public var schema: WireSchema
        /// Whether the field may be absent: it has a default.
        public var isOptional: Bool = false
        /// Its documentation; empty if the author wrote none.
        public var doc: String = ""
        /// Other names that decoding accepts.
        public var aliases: [String] = []
    }

    /// An enum: a map with one key, the name of the case.
    @MemberwiseInit
    public struct Choice: WireCodable, Equatable, Sendable {
        /// Name of the type.
        public var name: String
        /// Documentation of the type; empty if the author wrote none.
        public var doc: String = ""
        /// Its cases, in the order of their declaration.
        public var cases: [Case]
        /// The version of the type: see ``WireCodable/wireVersion``.
        public var version: Int = 1
        /// What the process knows of the type.
        @NotTransmitted package var origin = SchemaOrigin()
    }

    /// One case of a choice with the form of its payload.
    @WireCodable
    @MemberwiseInit
    public struct Case: Equatable, Sendable {
        /// Its name on the wire.
        public var name: String
        /// The form of its payload.
        public var payload: Payload
        /// Its documentation; empty if the author wrote none.
        public var doc: String = ""
        /// Other names that decoding accepts.
        public var aliases: [String] = []
    }

    /// The forms of a case's values on the wire.
    @WireCodable
    public enum Payload: Equatable, Sendable {
        /// `{"reset":{}}`, or `"reset"` alone.
        case none
        /// `{"add":5}`: one value without a label.
        case single(WireSchema)
        /// `{"move":[1,2]}`: several values without labels.
        case tuple([WireSchema])
        /// `{"increment":{"by":5}}`: labelled values.
        case record([Field])
    }
}

// MARK: - Types of the process
/// What the process knows of the type that a schema describes. It is part of neither the encoding
/// nor the equality of schemas.
package struct SchemaOrigin: Equatable, Sendable {
    /// The steps of the type; none in a schema that was read.
    fileprivate(set) var migrations = WireMigrations.none
    /// The type's full name without generic arguments; empty for a type of version 1 without
    /// former names.
    fileprivate(set) var declaration = ""
    /// The names of the cases that only the daemon sends; none in a schema that was read.
    fileprivate(set) var internalCases: [String] = []
    /// The names of the fields or cases that the log hides; none in a schema that was read.
    fileprivate(set) var secrets: [String] = []

    package static func == (left: SchemaOrigin, right: SchemaOrigin) -> Bool { true }
}

extension SchemaOrigin {
    init<Described: WireCodable>(of type: Described.Type) {
        migrations = Described.wireMigrations
        internalCases = Described.wireInternalCases
        secrets = Described.wireSecrets
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

// MARK: - Coding of records and choices
extension WireSchema.Record {
    /// Encodes `removed` only if it has a name, and `version` only above 1: so a schema without
    /// them, and its fingerprint, has the bytes that it had before there were such fields.
    public func encode(into writer: inout WireWriter) {
        let hasVersion = version != 1
        writer.map(count: 3 + (removed.isEmpty ? 0 : 1) + (hasVersion ? 1 : 0))
        writer.field("doc", doc)
        writer.field("name", name)
        writer.field("fields", fields)
        if !removed.isEmpty { writer.field("removed", removed) }
        if hasVersion { writer.field("version", version) }
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> WireSchema.Record {
        let form = try RecordForm.Record.decode(bytes, &cursor)
        return WireSchema.Record(
            name: form.name, doc: form.doc, fields: form.fields, removed: form.removed,
            version: form.version)
    }

    public static var wireSchema: WireSchema { RecordForm.Record.wireSchema }
}

extension WireSchema.Choice {
    /// Encodes `version` only above 1.
    public func encode(into writer: inout WireWriter) {
        let hasVersion = version != 1
        writer.map(count: hasVersion ? 4 : 3)
        writer.field("doc", doc)
        writer.field("name", name)
        writer.field("cases", cases)
        if hasVersion { writer.field("version", version) }
    }

    public static func decode(
        _ bytes: Span<UInt8>, _ cursor: inout WireCursor
    ) throws(WireError) -> WireSchema.Choice {
        let form = try RecordForm.Choice.decode(bytes, &cursor)
        return WireSchema.Choice(
            name: form.name, doc: form.doc, cases: form.cases, version: form.version)
    }

    public static var wireSchema: WireSchema { RecordForm.Choice.wireSchema }
}

extension WireWriter {
    /// Appends a pair of a map.
    fileprivate mutating func field(_ name: String, _ value: some WireCodable) {
        text(name)
        value.encode(into: &self)
    }
}

/// The forms that records and choices are read in.
private enum RecordForm {
    @WireCodable
    struct Record {
        var name: String
        var doc: String = ""
        var fields: [WireSchema.Field]
        var removed: [String] = []
        var version: Int = 1
    }

    @WireCodable
    struct Choice {
        var name: String
        var doc: String = ""
        var cases: [WireSchema.Case]
        var version: Int = 1
    }
}

// MARK: - Describing types
/// Describing recursive types.
///
/// A schema asks each field's type for its schema, which would never end for a recursive type. So a
/// task-local list contains the types being described, and a type found in it becomes a reference
/// by name. This also detects mutual recursion, which no macro can see.
extension WireSchema {
    @TaskLocal private static var open: [ObjectIdentifier] = []

    /// Describes the struct `type`; `removed` are the names of its removed fields.
    public static func record<Described: WireCodable>(
        _ type: Described.Type, name: String, doc: String = "", removed: [String] = [],
        fields: () -> [Field]
    ) -> WireSchema {
        nested(type, name: name) {
            var record = Record(
                name: name, doc: doc, fields: fields(), removed: removed,
                version: Described.wireVersion)
            record.origin = SchemaOrigin(of: type)
            return .record(record)
        }
    }

    /// Describes the enum `type`.
    public static func choice<Described: WireCodable>(
        _ type: Described.Type, name: String, doc: String = "", cases: () -> [Case]
    ) -> WireSchema {
        nested(type, name: name) {
            var choice = Choice(
                name: name, doc: doc, cases: cases(), version: Described.wireVersion)
            choice.origin = SchemaOrigin(of: type)
            return .choice(choice)
        }
    }

    /// Describes a field of the type `type`; it is optional if it has a default or if its type has
    /// an absent value.
    public static func field<Value: WireCodable>(
        _ name: String, _ type: Value.Type, hasDefault: Bool = false, doc: String = "",
        aliases: [String] = []
    ) -> Field {
        var isOptional = hasDefault
        if case .some = Value.wireAbsentValue { isOptional = true }
        return Field(
            name: name, schema: Value.wireSchema, isOptional: isOptional, doc: doc,
            aliases: aliases)
    }

    private static func nested<Described>(
        _ type: Described.Type, name: String, _ describe: () -> WireSchema
    ) -> WireSchema {
        let id = ObjectIdentifier(type)
        if open.contains(id) { return .reference(name) }
        return $open.withValue(open + [id]) { describe() }
    }
}

// MARK: - Fingerprint
extension WireSchema {
    /// A number that differs for schemas whose encodings differ.
    ///
    /// *Shape*: 64-bit FNV-1a over the encoded bytes of ``canonical``.
    package var fingerprint: UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in canonical.wireBytes() { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }

    /// The schema without everything that does not affect encodings: documentation, aliases,
    /// removed fields, and the order of fields and cases, which are found by name.
    package var canonical: WireSchema {
        switch self {
        case .bool, .integer, .float, .text, .bytes, .any, .duration, .reference: self
        case .optional(let wrapped): .optional(wrapped.canonical)
        case .array(let element): .array(element.canonical)
        case .map(let value): .map(value.canonical)
        case .named(let named):
            .named(Named(name: named.name, schema: named.schema.canonical))
        case .record(let record):
            .record(
                Record(
                    name: record.name, fields: Field.canonical(record.fields),
                    version: record.version))
        case .choice(let choice):
            .choice(
                Choice(
                    name: choice.name, cases: Case.canonical(choice.cases), version: choice.version)
            )
        }
    }
}

extension WireSchema.Field {
    fileprivate static func canonical(_ fields: [WireSchema.Field]) -> [WireSchema.Field] {
        fields
            .map { field in
                WireSchema.Field(
                    name: field.name, schema: field.schema.canonical, isOptional: field.isOptional)
            }
            .sorted { WireKey($0.name) < WireKey($1.name) }
    }
}

extension WireSchema.Case {
    fileprivate static func canonical(_ cases: [WireSchema.Case]) -> [WireSchema.Case] {
        cases
            .map { WireSchema.Case(name: $0.name, payload: $0.payload.canonical) }
            .sorted { WireKey($0.name) < WireKey($1.name) }
    }
}

extension WireSchema.Payload {
    /// The types of its values.
    var schemas: [WireSchema] {
        switch self {
        case .none: []
        case .single(let schema): [schema]
        case .tuple(let schemas): schemas
        case .record(let fields): fields.map(\.schema)
        }
    }

    fileprivate var canonical: WireSchema.Payload {
        switch self {
        case .none: .none
        case .single(let schema): .single(schema.canonical)
        case .tuple(let schemas): .tuple(schemas.map(\.canonical))
        case .record(let fields): .record(WireSchema.Field.canonical(fields))
        }
    }
}
