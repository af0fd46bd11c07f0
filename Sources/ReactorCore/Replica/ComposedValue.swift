/// A node's value with the values of the nodes below composed into it: see
/// ``AnyNode/encodeValue(into:)``.
enum ComposedValue {
    /// The names of the children of `reactor`; `nil` if it has none.
    static func childNames(of reactor: some Reactor) -> Set<WireKey>? {
        var visitor = ChildVisitor()
        reactor.children(&visitor)
        return visitor.names.isEmpty ? nil : visitor.names
    }

    /// Extracts the node's own encoded state, of the shape `schema`, from a composed value.
    static func own(
        _ bytes: Span<UInt8>, without names: Set<WireKey>, _ schema: WireSchema
    ) throws(WireError) -> [UInt8] {
        let entries = try AnyNode.entries(of: bytes).filter { !names.contains($0.key) }
        if let first = entries.first, entries.count == 1, first.key == AnyNode.stateKey,
            !schema.mayHave(AnyNode.stateKey)
        {
            return first.value
        }
        var writer = WireWriter()
        writer.map(count: entries.count)
        for entry in entries {
            writer.text(entry.key.text)
            writer.raw(entry.value)
        }
        return writer.bytes
    }
}

extension WireSchema {
    /// Whether a value of this shape may be a map with the key `name`.
    fileprivate func mayHave(_ name: WireKey) -> Bool {
        switch self {
        case .record(let record): record.fields.contains { WireKey($0.name) == name }
        case .choice(let choice): choice.cases.contains { WireKey($0.name) == name }
        case .map, .any: true
        default: false
        }
    }
}
