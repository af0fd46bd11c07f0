extension WireSchema {
    /// A number that differs where two schemas differ in what is written on the wire.
    ///
    /// *Shape*: 64-bit FNV-1a over the encoded bytes of ``canonical``.
    public var fingerprint: UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in canonical.wireBytes() { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return hash
    }

    /// The schema without what leaves the written bytes alone: documentation, aliases, and the
    /// order of fields and cases, which are found by their names.
    public var canonical: WireSchema {
        switch self {
        case .bool, .integer, .float, .text, .bytes, .any, .duration, .reference: self
        case .optional(let wrapped): .optional(wrapped.canonical)
        case .array(let element): .array(element.canonical)
        case .map(let value): .map(value.canonical)
        case .record(let record):
            .record(Record(name: record.name, fields: Field.canonical(record.fields)))
        case .choice(let choice):
            .choice(Choice(name: choice.name, cases: Case.canonical(choice.cases)))
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
    fileprivate var canonical: WireSchema.Payload {
        switch self {
        case .none: .none
        case .single(let schema): .single(schema.canonical)
        case .tuple(let schemas): .tuple(schemas.map(\.canonical))
        case .record(let fields): .record(WireSchema.Field.canonical(fields))
        }
    }
}
