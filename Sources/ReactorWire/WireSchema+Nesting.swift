/// Describing types that stand inside themselves.
///
/// A schema is computed by asking each field's type for its own, so that a recursive type would
/// ask forever: the types being described are kept in a task-local list, and one that is met again
/// becomes a reference by name. This also catches mutual recursion, which no macro can see.
extension WireSchema {
    @TaskLocal private static var open: [ObjectIdentifier] = []

    /// Describes the struct `type`.
    public static func record<Described>(
        _ type: Described.Type, name: String, doc: String = "", fields: () -> [Field]
    ) -> WireSchema {
        nested(type, name: name) {
            .record(Record(name: name, doc: doc, fields: fields()))
        }
    }

    /// Describes the enum `type`.
    public static func choice<Described>(
        _ type: Described.Type, name: String, doc: String = "", cases: () -> [Case]
    ) -> WireSchema {
        nested(type, name: name) {
            .choice(Choice(name: name, doc: doc, cases: cases()))
        }
    }

    /// Describes a field of the type `type`; it may be absent if it has a default or if its type
    /// has an absent value.
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
